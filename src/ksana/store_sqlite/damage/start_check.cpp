#include "ksana/store_sqlite/damage/start_check.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "ksana/base/log/log.hpp"
#include "ksana/base/process/descriptor.hpp"
#include "ksana/base/text/crc32c.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/store_sqlite/damage/log_scan.hpp"

namespace ksana::store_sqlite {
namespace {

constexpr std::string_view kAdvice =
    "restore a backup, or accept what is there by `ksana doctor --store URL --repair`";

Error Damaged(const std::string& what) {
    return {Code::kDataLoss, fmt::format("{}: {}", what, kAdvice)};
}

// A serial number that wraps around: whether `a` was drawn after `b`.
bool IsLater(std::uint32_t a, std::uint32_t b) {
    return a != b && static_cast<std::int32_t>(a - b) > 0;
}

// Returns whether the database itself has the page as it was at this commit: then its log was
// copied into it. No connection of this process has the database open.
bool HasPageOf(const std::string& path, const LogMark& mark) {
    if (mark.frames == 0 || mark.page == 0 || mark.sum == 0) return false;
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.ok()) return false;
    std::string page(kPageBytes, '\0');
    const ssize_t got =
        ::pread(file.number(), page.data(), page.size(), std::int64_t{mark.page - 1} * kPageBytes);
    return got == static_cast<ssize_t>(page.size()) && std::max(Crc32c(page), 1U) == mark.sum;
}

// Another program has copied the log into the database and deleted it, as every one does that opens
// a database after a crash and closes it.
Result<void> BeginSumsAnew(const std::string& path, PageSums& sums) {
    Log(LogLevel::kWarn,
        "sqlite: another program has copied the log into the database; the checksums of its pages "
        "begin anew",
        {{"database", path}});
    if (sums.Forget()) return {};
    return Error(Code::kUnavailable, fmt::format("cannot write {}-sums", path));
}

// Returns whether the log is the one of this mark, or began anew after it.
bool Follows(const LogScan& scan, const LogMark& mark) {
    return scan.valid && (scan.salts == mark.salts || IsLater(scan.salts[0], mark.salts[0]));
}

Result<void> CheckLog(const std::string& path, const LogScan& scan, PageSums& sums) {
    if (scan.damaged_inside) {
        return Damaged(fmt::format("{}-wal is damaged behind frame {}: later commits would be lost",
                                   path, scan.committed));
    }
    const LogMark& mark = sums.committed();
    if (mark.frames == 0) {
        const LogMark& begun = sums.candidate();
        if (begun.frames == 0 || Follows(scan, begun)) return {};
        return BeginSumsAnew(path, sums);
    }
    if (scan.valid && scan.salts == mark.salts) {
        if (scan.committed >= mark.frames) return {};
        return Damaged(
            fmt::format("{}-wal is damaged or was cut: {} frames were committed, {} can be read",
                        path, mark.frames, scan.committed));
    }
    // The log began anew after its content was copied into the database.
    if (Follows(scan, mark)) return {};
    if (HasPageOf(path, mark) || HasPageOf(path, sums.candidate())) {
        return BeginSumsAnew(path, sums);
    }
    return Damaged(fmt::format(
        "{}-wal is gone, or is another one: it had {} frames with commits that are not in {}", path,
        mark.frames, path));
}

// Limits a statement to a time, for its lifetime.
class TimeLimit {
  public:
    TimeLimit(sqlite3* database, Duration limit) : database_(database), end_(Now() + limit) {
        constexpr int kInstructions = 10'000;
        sqlite3_progress_handler(
            database_, kInstructions,
            [](void* self) {
                auto* const limit_of = static_cast<TimeLimit*>(self);
                limit_of->over_ = limit_of->over_ || limit_of->Now() >= limit_of->end_;
                return limit_of->over_ ? 1 : 0;
            },
            this);
    }
    TimeLimit(const TimeLimit&) = delete;
    TimeLimit& operator=(const TimeLimit&) = delete;
    ~TimeLimit() { sqlite3_progress_handler(database_, 0, nullptr, nullptr); }
    bool over() const { return over_; }

  private:
    SteadyPoint Now() const { return clock_.SteadyNow(); }

    SystemClock clock_;  // real time, whatever the clock of the store
    sqlite3* database_;
    SteadyPoint end_;
    bool over_ = false;
};

Result<std::vector<std::string>> Faults(Connection& connection, const std::string& pragma) {
    std::vector<std::string> faults;
    Query query = connection.Dynamic(pragma);
    for (;;) {
        KSANA_TRY(const bool row, query.Next());
        if (!row) break;
        faults.push_back(query.Text());
    }
    if (faults.size() == 1 && faults[0] == "ok") faults.clear();
    return faults;
}

}  // namespace

Result<StartFacts> CheckBeforeStart(const std::string& database_path, PageSums& sums) {
    struct stat facts {};
    const bool there = ::stat(database_path.c_str(), &facts) == 0 && facts.st_size > 0;
    if (!there && sums.database_bytes() == 0 && sums.committed().frames == 0) {
        sums.ExpectClose(true);
        return StartFacts{};
    }
    if (!there || facts.st_size < sums.database_bytes()) {
        return Damaged(fmt::format("{} was cut: it has {} bytes and had {}", database_path,
                                   there ? facts.st_size : 0, sums.database_bytes()));
    }
    KSANA_TRY(const LogScan scan, ScanLog(database_path));
    KSANA_TRY_VOID(CheckLog(database_path, scan, sums));
    if (scan.valid) sums.LogBegins(scan.salts);
    sums.ExpectClose(true);
    return StartFacts{.unclean = scan.committed > 0 || sums.committed().frames > 0};
}

Result<void> QuickCheck(Connection& connection) {
    constexpr Duration kLimit = std::chrono::seconds(5);
    const TimeLimit limit(connection.handle(), kLimit);
    auto faults = Faults(connection, "PRAGMA quick_check(5)");
    if (limit.over()) {
        Log(LogLevel::kInfo,
            "sqlite: the database is large; it was checked in part after an unclean end", {});
        return {};
    }
    if (!faults) return std::move(faults).error();
    if (faults->empty()) return {};
    return Damaged(fmt::format("the database is damaged: {}", faults->front()));
}

Result<std::vector<std::string>> IntegrityCheck(Connection& connection, int most) {
    return Faults(connection, fmt::format("PRAGMA integrity_check({})", most));
}

}  // namespace ksana::store_sqlite
