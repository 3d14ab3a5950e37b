#include "ksana/store_sqlite/damage/file_guard.hpp"

#include <fmt/core.h>
#include <sys/stat.h>

#include "ksana/base/log/log.hpp"

namespace ksana::store_sqlite {
namespace {

struct Facts {
    std::uint64_t inode = 0;  // 0: no such file
    std::int64_t bytes = 0;
};

Facts FactsOf(const std::string& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return {};
    return {facts.st_ino, facts.st_size};
}

}  // namespace

FileGuard::FileGuard(std::string path, Connection& connection, PageSums* sums)
    : path_(std::move(path)),
      connection_(connection),
      sums_(sums),
      database_file_(FactsOf(path_).inode),
      log_file_(FactsOf(path_ + "-wal").inode) {}

Result<void> FileGuard::Check() {
    if (stopped_) return *stopped_;
    const Facts database = FactsOf(path_);
    if (database_file_ != 0 && database.inode != database_file_) {
        return Stop(fmt::format("{} was deleted or replaced", path_));
    }
    if (sums_ != nullptr && database.bytes < sums_->database_bytes()) {
        return Stop(fmt::format("{} was cut from {} bytes to {}", path_, sums_->database_bytes(),
                                database.bytes));
    }
    if (log_file_ != 0 && FactsOf(path_ + "-wal").inode != log_file_) {
        // Reads the file that has no name any more.
        const int rc = sqlite3_wal_checkpoint_v2(connection_.handle(), nullptr,
                                                 SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
        return Stop(fmt::format("{}-wal was deleted or replaced (its content {})", path_,
                                rc == SQLITE_OK ? "is now in the database" : "is lost"));
    }
    return {};
}

Result<void> FileGuard::Stop(const std::string& what) {
    // The close of the last connection would copy the log into the damaged file and delete it.
    if (sums_ != nullptr) sums_->ExpectClose(false);
    (void)sqlite3_db_config(connection_.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    stopped_ = Error(Code::kDataLoss,
                     fmt::format("{} while the server runs: it writes nothing more", what));
    Log(LogLevel::kError, "sqlite: the store is stopped", {{"error", stopped_->message}});
    return *stopped_;
}

}  // namespace ksana::store_sqlite
