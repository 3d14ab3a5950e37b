#include "ksana/store_sqlite/wire/log_vfs.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "ksana/store_sqlite/wire/page_file.hpp"

namespace ksana::store_sqlite {
namespace {

constexpr const char* kName = "ksana";
// Less than 128 KB: SQLite's unix VFS takes the size of a write modulo 128 KB.
constexpr int kRoom = 64 * 1024;

sqlite3_vfs* Default() {
    static sqlite3_vfs* const found = sqlite3_vfs_find(nullptr);
    return found;
}

// A log on top of a file of the default VFS: checked, and buffered if its connection asks for it.
// Owned by its Handle; used by the thread of its connection.
class VfsLog {
  public:
    VfsLog(int inner_size, const FileOptions& options) : file_(inner_size), options_(options) {}

    sqlite3_file* inner() { return file_.inner(); }
    const sqlite3_io_methods& real() { return file_.real(); }
    PageSums* sums() { return options_.sums; }

    // Call after the inner file was opened.
    void Begin() {
        // On a disk without this property SQLite writes on after the sync, up to the end of a
        // sector.
        gathers_ = options_.gather_log &&
                   (real().xDeviceCharacteristics(inner()) & SQLITE_IOCAP_POWERSAFE_OVERWRITE) != 0;
    }

    // Writes the buffer. If that fails, the buffered data is lost, and its transaction fails with
    // it.
    int Flush() {
        if (count_ == 0) return SQLITE_OK;
        const int count = std::exchange(count_, 0);
        return file_.Write(gathered_.data(), count, start_);
    }

    int Write(const void* bytes, int count, sqlite3_int64 offset) {
        if (sums() != nullptr) {
            sums()->LogWrote(offset,
                             {static_cast<const char*>(bytes), static_cast<std::size_t>(count)});
        }
        const bool follows = offset == start_ + count_ && count_ + count <= kRoom;
        if (!follows) {
            const int rc = Flush();
            if (rc != SQLITE_OK) return rc;
        }
        if (!gathers_ || count > kRoom) return file_.Write(bytes, count, offset);
        if (count_ == 0) start_ = offset;
        std::memcpy(gathered_.data() + count_, bytes, static_cast<std::size_t>(count));
        count_ += count;
        return SQLITE_OK;
    }

  private:
    InnerFile file_;
    const FileOptions options_;
    bool gathers_ = false;
    int count_ = 0;  // bytes in the buffer, to be written at `start_`
    sqlite3_int64 start_ = 0;
    std::array<char, kRoom> gathered_{};
};

// The content of the memory that SQLite provides for a file.
struct Handle : sqlite3_file {
    VfsLog* log;  // owned, from Open to Close
};

VfsLog& Of(sqlite3_file* file) { return *static_cast<Handle*>(file)->log; }

// Flushes the buffer and then calls the inner file.
template <class Call>
int Flushed(sqlite3_file* file, const Call& call) {
    VfsLog& log = Of(file);
    const int rc = log.Flush();
    return rc != SQLITE_OK ? rc : call(log.real(), log.inner());
}

int Close(sqlite3_file* file) {
    const std::unique_ptr<VfsLog> log(&Of(file));
    const int flushed = log->Flush();
    const int closed = log->real().xClose(log->inner());
    return flushed != SQLITE_OK ? flushed : closed;
}

const sqlite3_io_methods kMethods = {
    .iVersion = 1,
    .xClose = Close,
    .xRead =
        [](sqlite3_file* file, void* out, int count, sqlite3_int64 offset) {
            const int rc = Flushed(file, [=](const sqlite3_io_methods& real, sqlite3_file* inner) {
                return real.xRead(inner, out, count, offset);
            });
            PageSums* const sums = Of(file).sums();
            if (rc != SQLITE_OK || sums == nullptr) return rc;
            const std::string_view bytes(static_cast<const char*>(out),
                                         static_cast<std::size_t>(count));
            return sums->LogIsWhole(offset, bytes) ? SQLITE_OK : SQLITE_CORRUPT;
        },
    .xWrite = [](sqlite3_file* file, const void* bytes, int count,
                 sqlite3_int64 offset) { return Of(file).Write(bytes, count, offset); },
    .xTruncate =
        [](sqlite3_file* file, sqlite3_int64 size) {
            return Flushed(file, [=](const sqlite3_io_methods& real, sqlite3_file* inner) {
                return real.xTruncate(inner, size);
            });
        },
    .xSync =
        [](sqlite3_file* file, int flags) {
            if (Of(file).sums() != nullptr) Of(file).sums()->LogSyncs();
            return Flushed(file, [=](const sqlite3_io_methods& real, sqlite3_file* inner) {
                return real.xSync(inner, flags);
            });
        },
    .xFileSize =
        [](sqlite3_file* file, sqlite3_int64* out) {
            return Flushed(file, [=](const sqlite3_io_methods& real, sqlite3_file* inner) {
                return real.xFileSize(inner, out);
            });
        },
    .xLock = [](sqlite3_file* file,
                int level) { return Of(file).real().xLock(Of(file).inner(), level); },
    .xUnlock = [](sqlite3_file* file,
                  int level) { return Of(file).real().xUnlock(Of(file).inner(), level); },
    .xCheckReservedLock =
        [](sqlite3_file* file, int* out) {
            return Of(file).real().xCheckReservedLock(Of(file).inner(), out);
        },
    .xFileControl =
        [](sqlite3_file* file, int what, void* argument) {
            return Flushed(file, [=](const sqlite3_io_methods& real, sqlite3_file* inner) {
                return real.xFileControl(inner, what, argument);
            });
        },
    .xSectorSize = [](sqlite3_file* file) { return Of(file).real().xSectorSize(Of(file).inner()); },
    .xDeviceCharacteristics =
        [](sqlite3_file* file) { return Of(file).real().xDeviceCharacteristics(Of(file).inner()); },
};

int Open(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags, int* out) {
    sqlite3_vfs* const vfs = Default();
    if ((flags & SQLITE_OPEN_MAIN_DB) != 0) return OpenPageFile(vfs, name, file, flags, out);
    if ((flags & SQLITE_OPEN_WAL) == 0) return vfs->xOpen(vfs, name, file, flags, out);
    file->pMethods = nullptr;
    auto log =
        std::make_unique<VfsLog>(vfs->szOsFile, OptionsOf(sqlite3_database_file_object(name)));
    const int rc = vfs->xOpen(vfs, name, log->inner(), flags, out);
    if (rc != SQLITE_OK) {
        if (log->inner()->pMethods != nullptr) log->real().xClose(log->inner());
        return rc;
    }
    log->Begin();
    static_cast<Handle*>(file)->log = log.release();
    file->pMethods = &kMethods;
    return SQLITE_OK;
}

// Registers a copy of the default VFS that opens databases as PageFile and logs as VfsLog.
bool Register() {
    if (Default() == nullptr) return false;
    static sqlite3_vfs vfs = *Default();
    vfs.zName = kName;
    vfs.pNext = nullptr;
    vfs.szOsFile =
        std::max(vfs.szOsFile, static_cast<int>(std::max(sizeof(Handle), sizeof(PageHandle))));
    vfs.xOpen = Open;
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

}  // namespace

const char* KsanaVfs() {
    static const bool registered = Register();
    return registered ? kName : nullptr;
}

}  // namespace ksana::store_sqlite
