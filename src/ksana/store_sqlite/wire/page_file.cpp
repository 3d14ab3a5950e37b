#include "ksana/store_sqlite/wire/page_file.hpp"

#include <cerrno>
#include <memory>
#include <string_view>

namespace ksana::store_sqlite {
namespace {

PageFile& PageOf(sqlite3_file* file) { return *static_cast<PageHandle*>(file)->page; }

sqlite3_file* Inner(sqlite3_file* file) { return PageOf(file).file.inner(); }
const sqlite3_io_methods& Real(sqlite3_file* file) { return PageOf(file).file.real(); }
PageSums* SumsOf(sqlite3_file* file) { return PageOf(file).options.sums; }

std::string_view Bytes(const void* bytes, int count) {
    return {static_cast<const char*>(bytes), static_cast<std::size_t>(count)};
}

int ClosePages(sqlite3_file* file) {
    const std::unique_ptr<PageFile> page(&PageOf(file));
    return page->file.real().xClose(page->file.inner());
}

int Read(sqlite3_file* file, void* out, int count, sqlite3_int64 offset) {
    const int rc = Real(file).xRead(Inner(file), out, count, offset);
    PageSums* const sums = SumsOf(file);
    if (sums == nullptr) return rc;
    if (rc == SQLITE_IOERR_SHORT_READ) return sums->CutOff(offset) ? SQLITE_CORRUPT : rc;
    if (rc != SQLITE_OK) return rc;
    return sums->IsWhole(offset, Bytes(out, count)) ? SQLITE_OK : SQLITE_CORRUPT;
}

// A page whose write fails (a full disk) is still in the log, and is read from there. It is not
// noted: the database would look as if it had been cut.
int Write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
    const int rc = PageOf(file).file.Write(bytes, count, offset);
    if (rc == SQLITE_OK && SumsOf(file) != nullptr) {
        SumsOf(file)->Wrote(offset, Bytes(bytes, count));
    }
    return rc;
}

// The checksums go first: a database that is shorter than they say is damaged.
int Truncate(sqlite3_file* file, sqlite3_int64 size) {
    if (SumsOf(file) != nullptr && !SumsOf(file)->Cut(size)) return SQLITE_IOERR_TRUNCATE;
    return Real(file).xTruncate(Inner(file), size);
}

int Sync(sqlite3_file* file, int flags) {
    const int rc = Real(file).xSync(Inner(file), flags);
    if (rc != SQLITE_OK || SumsOf(file) == nullptr) return rc;
    return SumsOf(file)->Save() ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

int Control(sqlite3_file* file, int what, void* argument) {
    if (what != kAttachFiles) return Real(file).xFileControl(Inner(file), what, argument);
    PageOf(file).options = *static_cast<const FileOptions*>(argument);
    return SQLITE_OK;
}

// Version 2: no memory mapping, whose reads would pass by.
const sqlite3_io_methods kPageMethods = {
    .iVersion = 2,
    .xClose = ClosePages,
    .xRead = Read,
    .xWrite = Write,
    .xTruncate = Truncate,
    .xSync = Sync,
    .xFileSize = [](sqlite3_file* file,
                    sqlite3_int64* out) { return Real(file).xFileSize(Inner(file), out); },
    .xLock = [](sqlite3_file* file, int level) { return Real(file).xLock(Inner(file), level); },
    .xUnlock = [](sqlite3_file* file, int level) { return Real(file).xUnlock(Inner(file), level); },
    .xCheckReservedLock = [](sqlite3_file* file,
                             int* out) { return Real(file).xCheckReservedLock(Inner(file), out); },
    .xFileControl = Control,
    .xSectorSize = [](sqlite3_file* file) { return Real(file).xSectorSize(Inner(file)); },
    .xDeviceCharacteristics =
        [](sqlite3_file* file) { return Real(file).xDeviceCharacteristics(Inner(file)); },
    .xShmMap =
        [](sqlite3_file* file, int region, int size, int extend, void volatile** out) {
            return Real(file).xShmMap(Inner(file), region, size, extend, out);
        },
    .xShmLock = [](sqlite3_file* file, int offset, int count,
                   int flags) { return Real(file).xShmLock(Inner(file), offset, count, flags); },
    .xShmBarrier = [](sqlite3_file* file) { Real(file).xShmBarrier(Inner(file)); },
    .xShmUnmap = [](sqlite3_file* file,
                    int erase) { return Real(file).xShmUnmap(Inner(file), erase); },
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

}  // namespace

int InnerFile::Write(const void* bytes, int count, sqlite3_int64 offset) {
    const int rc = real().xWrite(inner(), bytes, count, offset);
    if (rc != SQLITE_IOERR_WRITE) return rc;
    int number = 0;
    (void)real().xFileControl(inner(), SQLITE_FCNTL_LAST_ERRNO, &number);
    return number == EDQUOT || number == EFBIG ? SQLITE_FULL : rc;
}

int OpenPageFile(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    file->pMethods = nullptr;
    auto page = std::make_unique<PageFile>(vfs->szOsFile);
    const int rc = vfs->xOpen(vfs, name, page->file.inner(), flags, out);
    if (rc != SQLITE_OK) {
        if (page->file.inner()->pMethods != nullptr) page->file.real().xClose(page->file.inner());
        return rc;
    }
    static_cast<PageHandle*>(file)->page = page.release();
    file->pMethods = &kPageMethods;
    return SQLITE_OK;
}

const FileOptions& OptionsOf(sqlite3_file* database) { return PageOf(database).options; }

}  // namespace ksana::store_sqlite
