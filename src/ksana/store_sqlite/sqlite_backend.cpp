#include "ksana/store_sqlite/sqlite_backend.hpp"

#include "ksana/store_sqlite/migrations/migrate.hpp"

namespace ksana::store_sqlite {

Result<void> SqliteWriter::Commit() {
    auto committed = connection_.Commit();
    if (committed) {
        session_.policy_writer.Committed(session_.shared.policies);
    } else {
        Forget();
    }
    return committed;
}

void SqliteWriter::Rollback() {
    connection_.Rollback();
    Forget();
}

void SqliteWriter::Forget() {
    session_.policy_writer.RolledBack();
    session_.running.Clear();
    session_.seq_book.Clear();
    session_.noted.Clear();
}

SqliteBackend::SqliteBackend(std::string path, Clock& clock, std::size_t readers,
                             store_kit::FileLock lock, std::unique_ptr<PageSums> sums,
                             std::unique_ptr<Connection> writer)
    : path_(std::move(path)),
      lock_(std::move(lock)),
      shared_{.clock = clock, .policies = {}},
      sums_(std::move(sums)),
      connection_(std::move(writer)),
      readers_(path_, readers, shared_, sums_.get()) {}

Result<void> SqliteBackend::Start() {
    if (connection_ == nullptr) return {};
    KSANA_TRY_VOID(shared_.policies.Fill(*connection_));
    writer_.emplace(path_, *connection_, readers_, shared_, sums_.get());
    group_commit_.emplace("sqlite writer", *writer_, changes_);
    return group_commit_->Start();
}

Result<void> SqliteBackend::Write(const WriteBody& body) {
    if (!group_commit_) {
        return Error(Code::kPermissionDenied, path_ + " was opened for reading only");
    }
    return group_commit_->Run(body);
}

Result<store::StoreInfo> SqliteBackend::Info() {
    return store::StoreInfo{
        .driver = "sqlite", .location = path_, .schema = Migrations().back().version};
}

}  // namespace ksana::store_sqlite
