#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/store_sqlite/damage/log_layout.hpp"
#include "ksana/store_sqlite/damage/sum_table.hpp"

namespace ksana::store_sqlite {

// The end of a transaction in the log. `frames` 0: there is none.
struct LogMark {
    Salts salts{};
    std::uint32_t frames = 0;  // of the log, up to and including that of the commit
    std::uint32_t page = 0;    // of the database, in the last frame
    std::uint32_t sum = 0;     // of that page; 0: unknown
    friend bool operator==(const LogMark&, const LogMark&) = default;
};

// Checksums of the pages of a database and of the frames of its log, so that damage is told instead
// of served. The VFS (wire/ksana_vfs.hpp) notes what it writes and asks about what it reads.
//
// Those of the database are also kept in the file "<database>-sums", which is written when SQLite
// syncs the database, before the log that holds the same pages begins anew: after a crash the pages
// whose checksum may be old are in the log. The header of the file says how far the log is
// committed. It is written at each commit, but not synced: it survives the end of the process; an
// older header after a loss of power only knows less. A page without a checksum gets one when it is
// written or first read, so that an older database is covered bit by bit.
//
// Owned by SqliteBackend. Thread-safe; the writer's functions belong to the thread that writes.
class PageSums {
  public:
    // Reads the file, or begins an empty one. Without `marks` (a commit is not durable) nothing is
    // noted about the log.
    static Result<std::unique_ptr<PageSums>> Open(const std::string& database_path, bool marks);
    // As Open, without the file: for a check that changes nothing.
    static Result<std::unique_ptr<PageSums>> Look(const std::string& database_path);

    // Without a file; for Open and Look.
    PageSums(std::string database_path, bool marks);
    PageSums(const PageSums&) = delete;
    PageSums& operator=(const PageSums&) = delete;
    // Notes that no log is expected any more if the close of the last connection has deleted it.
    ~PageSums();

    // Of the database. Wrote is of the writer. IsWhole returns false if the page differs from its
    // checksum, and logs that; CutOff if it lies beyond the end of the file.
    void Wrote(std::int64_t offset, std::string_view bytes);
    bool IsWhole(std::int64_t offset, std::string_view bytes);
    bool CutOff(std::int64_t offset);
    // The database was cut, or is about to be.
    [[nodiscard]] bool Cut(std::int64_t bytes);
    // From now on the file is written. Before, the database may be in the rollback mode in which it
    // is made, and whoever opens it next, Ksana or not, undoes what was interrupted.
    [[nodiscard]] bool BeginSaving();
    // Makes the checksums durable. Call it when the database is, too.
    [[nodiscard]] bool Save();
    // Bytes that the database has at least.
    std::int64_t database_bytes() { return static_cast<std::int64_t>(pages_.size()) * kPageBytes; }

    // Of the log. LogWrote is of the writer.
    void LogWrote(std::int64_t offset, std::string_view bytes);
    bool LogIsWhole(std::int64_t offset, std::string_view bytes);
    // A sync of the log begins, which may be that of a commit.
    void LogSyncs();
    // The commit is durable.
    void LogCommitted();

    // Before this start: the last commit known to be durable, and a later one that may be. The
    // latter also tells that a log had begun.
    const LogMark& committed() const { return committed_; }
    const LogMark& candidate() const { return candidate_; }
    // The log at the start is this one; its frames go on from there.
    void LogBegins(const Salts& salts) { salts_ = salts; }
    // Whether the end of this object is that of a writer that closes the database as it should. Not
    // before ExpectClose(true): a start that was refused changes nothing.
    void ExpectClose(bool clean) { closes_ = clean; }

    // Forgets all checksums, or what is known of the log.
    [[nodiscard]] bool Forget();
    [[nodiscard]] bool ForgetLog();

    // The first damage that was found; empty: none.
    std::string damage();

  private:
    Result<void> Load();
    bool WriteHeader();
    void Tell(std::string text);

    const std::string database_path_;
    const bool marks_;
    int descriptor_ = -1;  // -1: nothing is written
    SumTable pages_;
    SumTable frames_;  // since this start; those of before were checked by ScanLog

    Mutex mutex_;
    std::vector<bool> dirty_ KSANA_GUARDED_BY(mutex_);  // blocks of the file
    std::string damage_ KSANA_GUARDED_BY(mutex_);
    int told_ KSANA_GUARDED_BY(mutex_) = 0;

    // Of the writer.
    bool saves_ = false;
    bool closes_ = false;
    Salts salts_{};
    LogMark written_;  // the last commit that was written
    LogMark committed_;
    LogMark candidate_;
};

}  // namespace ksana::store_sqlite
