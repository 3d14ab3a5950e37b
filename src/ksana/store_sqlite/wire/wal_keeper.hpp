#pragma once

#include <cstdint>

#include "ksana/base/error/result.hpp"
#include "ksana/store_sqlite/wire/connection.hpp"
#include "ksana/store_sqlite/wire/reader_pool.hpp"

namespace ksana::store_sqlite {

// Looks after the write-ahead log of the writing connection: copies it into the database when it
// has grown to its working size, so that the next commit begins again at its front, and never cuts
// the file. Writing over a file is twice as fast to make durable as making it longer, which is why
// the file is also brought to that size in advance, with zeros and a piece at a time, while there
// is nothing else to do. Zeros are no valid frame: whoever recovers the log stops before them.
//
// SQLite would do the checkpoint inside the commit that makes the log too long; here it comes after
// the callers of that commit have their answer. Of the writer thread.
class WalKeeper {
  public:
    // The working size of the log: 16 MB. A checkpoint costs a few milliseconds and is worth it
    // after some thousand pages, most of which were written many times; a longer log only takes
    // more room.
    static constexpr int kWorkingFrames = 4'000;
    // Readers that follow each other without a gap keep the log from beginning anew. When it has
    // become so many times too long they are held back for a moment.
    static constexpr int kTooLong = 8;

    WalKeeper(Connection& connection, ReaderPool& readers, int working_frames = kWorkingFrames);
    ~WalKeeper();
    WalKeeper(const WalKeeper&) = delete;
    WalKeeper& operator=(const WalKeeper&) = delete;

    // True: there is more to do while idle.
    bool Maintain(bool idle);

  private:
    void Checkpoint();
    bool GrowOnePiece();
    static int OnCommit(void* keeper, sqlite3* database, const char* name, int frames);

    Connection& connection_;
    ReaderPool& readers_;
    const int working_frames_;
    int frames_ = 0;       // in the log after the last commit
    int next_checkpoint_;  // frames at which the next one is due
    bool grown_ = false;
};

}  // namespace ksana::store_sqlite
