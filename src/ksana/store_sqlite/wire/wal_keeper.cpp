#include "ksana/store_sqlite/wire/wal_keeper.hpp"

#include <algorithm>
#include <array>

#include "ksana/base/log/log.hpp"

namespace ksana::store_sqlite {
namespace {

// Less than 128 KB: SQLite's unix VFS takes the size of a write modulo 128 KB.
constexpr std::size_t kPiece = 64 * 1024;

// Sets the busy timeout to zero for its lifetime.
class WithoutWaiting {
  public:
    explicit WithoutWaiting(Connection& connection) : database_(connection.handle()) {
        sqlite3_busy_timeout(database_, 0);
    }
    ~WithoutWaiting() { sqlite3_busy_timeout(database_, Connection::kBusyTimeoutMs); }
    WithoutWaiting(const WithoutWaiting&) = delete;
    WithoutWaiting& operator=(const WithoutWaiting&) = delete;

  private:
    sqlite3* database_;
};

}  // namespace

WalKeeper::WalKeeper(Connection& connection, ReaderPool& readers, PageSums* sums,
                     int working_frames)
    : connection_(connection),
      readers_(readers),
      sums_(sums),
      working_frames_(working_frames),
      next_checkpoint_(working_frames) {
    sqlite3_wal_hook(connection_.handle(), &OnCommit, this);
}

WalKeeper::~WalKeeper() { sqlite3_wal_hook(connection_.handle(), nullptr, nullptr); }

int WalKeeper::OnCommit(void* keeper, sqlite3* /*database*/, const char* /*name*/, int frames) {
    auto* const self = static_cast<WalKeeper*>(keeper);
    self->frames_ = frames;
    if (self->sums_ != nullptr) self->sums_->LogCommitted();
    return SQLITE_OK;
}

bool WalKeeper::Maintain(bool idle) {
    // The log has started again at its front.
    if (frames_ < next_checkpoint_ - working_frames_) next_checkpoint_ = working_frames_;
    if (frames_ >= next_checkpoint_) Checkpoint();
    if (idle && !grown_ && frames_ > 0) grown_ = !GrowOnePiece();
    return !grown_ && frames_ > 0;
}

// Frames that cannot be copied because of a reader are left to the next checkpoint.
void WalKeeper::Checkpoint() {
    int rc = SQLITE_OK;
    const auto copy = [&](int mode) {
        // Does not wait for readers of other processes: all writers would wait, too.
        const WithoutWaiting now(connection_);
        rc = sqlite3_wal_checkpoint_v2(connection_.handle(), nullptr, mode, nullptr, nullptr);
    };
    if (frames_ < kTooLong * working_frames_ ||
        !readers_.WithoutReaders([&] { copy(SQLITE_CHECKPOINT_RESTART); })) {
        copy(SQLITE_CHECKPOINT_PASSIVE);
    }
    if (rc != SQLITE_OK && rc != SQLITE_BUSY) {
        Log(LogLevel::kWarn, "sqlite: the log could not be copied into the database",
            {{"error", sqlite3_errstr(rc)}});
    }
    next_checkpoint_ = frames_ + working_frames_;
}

// Returns false if the file has its working size, or cannot grow, which does no harm.
bool WalKeeper::GrowOnePiece() {
    const std::int64_t working_bytes = std::int64_t{working_frames_} * kFrameBytes;
    sqlite3_file* log = nullptr;
    sqlite3_int64 size = 0;
    if (sqlite3_file_control(connection_.handle(), nullptr, SQLITE_FCNTL_JOURNAL_POINTER, &log) !=
            SQLITE_OK ||
        log == nullptr || log->pMethods == nullptr ||
        log->pMethods->xFileSize(log, &size) != SQLITE_OK || size >= working_bytes) {
        return false;
    }
    static constexpr std::array<char, kPiece> kZeros{};
    const auto count =
        static_cast<int>(std::min<std::int64_t>(std::int64_t{kPiece}, working_bytes - size));
    if (log->pMethods->xWrite(log, kZeros.data(), count, size) != SQLITE_OK) return false;
    return log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) == SQLITE_OK;
}

}  // namespace ksana::store_sqlite
