#pragma once

#include <cstdint>

#include "ksana/base/error/result.hpp"
#include "ksana/store_sqlite/wire/connection.hpp"
#include "ksana/store_sqlite/wire/reader_pool.hpp"

namespace ksana::store_sqlite {

// Maintains the write-ahead log of the writing connection. When the log has grown to its working
// size, the keeper copies it into the database, so that the next commit starts again at the front
// of the file; it never truncates the file. Overwriting a file is made durable twice as fast as
// extending it, so the keeper also extends the file to the working size in advance, with zeros,
// piece by piece, while the writer is idle. Zeros are not a valid frame: a recovery of the log
// stops before them.
//
// SQLite would checkpoint inside the commit that makes the log too long; the keeper does so after
// the callers of that commit have their answer. Owned by SqliteWriter; only the writer thread uses
// it. A failed checkpoint is logged and tried again later.
class WalKeeper {
  public:
    // Working size of the log: 16 MB. A checkpoint costs a few milliseconds, which pays off after
    // some thousand pages, most of which were written many times; a longer log only takes more
    // space.
    static constexpr int kWorkingFrames = 4'000;
    // Overlapping readers keep the log from starting again at its front. When the log is this many
    // times too long, new readers are held back for a moment.
    static constexpr int kTooLong = 8;

    // `sums` is told of each commit; it may be null.
    WalKeeper(Connection& connection, ReaderPool& readers, PageSums* sums = nullptr,
              int working_frames = kWorkingFrames);
    ~WalKeeper();
    WalKeeper(const WalKeeper&) = delete;
    WalKeeper& operator=(const WalKeeper&) = delete;

    // Call after a commit, and again while idle if it returns true.
    bool Maintain(bool idle);

  private:
    void Checkpoint();
    bool GrowOnePiece();
    static int OnCommit(void* keeper, sqlite3* database, const char* name, int frames);

    Connection& connection_;
    ReaderPool& readers_;
    PageSums* const sums_;
    const int working_frames_;
    int frames_ = 0;       // in the log after the last commit
    int next_checkpoint_;  // number of frames at which the next checkpoint is due
    bool grown_ = false;   // whether the file has its working size, or cannot grow
};

}  // namespace ksana::store_sqlite
