#include "ksana/store_sqlite/damage/offline.hpp"

#include <fmt/core.h>

#include <array>
#include <filesystem>

#include "ksana/store_kit/file_lock.hpp"
#include "ksana/store_sqlite/damage/start_check.hpp"

namespace ksana::store_sqlite {
namespace {

namespace fs = std::filesystem;

constexpr int kMostFaults = 20;
constexpr std::array kSuffixes = {"", "-wal", "-sums"};

Result<void> Exists(const std::string& path) {
    std::error_code ignored;
    if (fs::exists(path, ignored) || fs::exists(path + "-sums", ignored)) return {};
    return Error(Code::kNotFound, fmt::format("{} does not exist", path));
}

// Notes an error of a check as a fault, unless the check itself could not be done.
Result<void> Note(Result<void> checked, FileReport& report) {
    if (checked) return {};
    if (checked.error().code != Code::kDataLoss) return std::move(checked).error();
    report.faults.push_back(std::move(checked).error().message);
    return {};
}

Result<void> CheckContent(const std::string& path, PageSums* sums, FileReport& report) {
    KSANA_TRY(const auto connection,
              Connection::Open(path, OpenMode::kReadOnly, LogWrites::kPlain, sums));
    auto faults = IntegrityCheck(*connection, kMostFaults);
    if (!faults) return Note(std::move(faults).error(), report);
    for (std::string& fault : *faults) report.faults.push_back(std::move(fault));
    // SQLite passes some pages that differ only in a value of its own words; the checksum does not.
    if (sums != nullptr && !sums->damage().empty()) report.faults.push_back(sums->damage());
    return {};
}

// Returns the first name with ".bad" that no copy has yet.
Result<std::string> FreeName(const std::string& path) {
    constexpr int kMost = 10'000;
    for (int n = 0; n < kMost; ++n) {
        std::string name = n == 0 ? path + ".bad" : fmt::format("{}.bad.{}", path, n);
        std::error_code ignored;
        if (!fs::exists(name, ignored)) return name;
    }
    return Error(Code::kExhausted, fmt::format("there are {} bad copies of {}", kMost, path));
}

Result<std::string> KeepCopies(const std::string& path) {
    KSANA_TRY(std::string copy, FreeName(path));
    for (const char* const suffix : kSuffixes) {
        std::error_code error;
        const std::string from = path + suffix;
        if (!fs::exists(from, error)) continue;
        fs::copy_file(from, copy + suffix, error);
        if (error) {
            return Error(Code::kUnavailable,
                         fmt::format("cannot copy {}: {}", from, error.message()));
        }
    }
    return copy;
}

Result<void> CopyLog(const std::string& path) {
    KSANA_TRY(const auto connection, Connection::Open(path, OpenMode::kExisting));
    KSANA_TRY(const auto faults, IntegrityCheck(*connection, kMostFaults));
    if (!faults.empty()) {
        return Error(Code::kDataLoss, fmt::format("{} cannot be repaired: {}; restore a backup",
                                                  path, faults.front()));
    }
    return connection->Execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace

Result<FileReport> CheckSqliteFiles(const std::string& given) {
    const std::string path = store_kit::WithoutLink(given);
    KSANA_TRY_VOID(Exists(path));
    FileReport report;
    const auto lock = store_kit::FileLock::Take(path, path);
    report.live = !lock;
    if (report.live) {
        KSANA_TRY_VOID(CheckContent(path, nullptr, report));
        return report;
    }
    KSANA_TRY(const auto sums, PageSums::Look(path));
    const auto start = CheckBeforeStart(path, *sums);
    if (!start) KSANA_TRY_VOID(Note(start.error(), report));
    KSANA_TRY_VOID(CheckContent(path, sums.get(), report));
    return report;
}

Result<std::string> RepairSqliteFiles(const std::string& given) {
    const std::string path = store_kit::WithoutLink(given);
    KSANA_TRY_VOID(Exists(path));
    KSANA_TRY(const auto lock, store_kit::FileLock::Take(path, path));
    KSANA_TRY(std::string copy, KeepCopies(path));
    KSANA_TRY_VOID(CopyLog(path));
    std::error_code ignored;
    fs::remove(path + "-sums", ignored);
    return copy;
}

}  // namespace ksana::store_sqlite
