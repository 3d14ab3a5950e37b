#pragma once

#include <cstddef>
#include <vector>

#include <sqlite3.h>

#include "ksana/store_sqlite/damage/page_sums.hpp"

namespace ksana::store_sqlite {

// What a connection tells the files of its VFS, by sqlite3_file_control with kAttachFiles after the
// database was opened and before anything is read. Lives as long as the connection.
struct FileOptions {
    PageSums* sums = nullptr;  // null: nothing is checked
    bool gather_log = false;   // see log_vfs.hpp
};
inline constexpr int kAttachFiles = 7301;

// A file of the default VFS inside a file of ours.
class InnerFile {
  public:
    explicit InnerFile(int size)
        : memory_(static_cast<std::size_t>(size) / sizeof(std::max_align_t) + 1) {}

    sqlite3_file* inner() { return static_cast<sqlite3_file*>(static_cast<void*>(memory_.data())); }
    const sqlite3_io_methods& real() { return *inner()->pMethods; }
    // SQLITE_FULL also for a quota and a limit of the size of files, as for a full disk.
    int Write(const void* bytes, int count, sqlite3_int64 offset);

  private:
    std::vector<std::max_align_t> memory_;  // zeros until the file is opened
};

// The database itself: pages are noted as they are written, and compared with their checksums as
// they are read. A page that differs, or that was cut off, is SQLITE_CORRUPT instead of content.
struct PageFile {
    explicit PageFile(int inner_size) : file(inner_size) {}
    InnerFile file;
    FileOptions options;
};

// What SQLite's memory for a file of the database holds.
struct PageHandle : sqlite3_file {
    PageFile* page;  // owned, from open to close
};

// Opens the database for xOpen.
int OpenPageFile(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out);

// Returns the options of the database of a file that OpenPageFile has opened.
const FileOptions& OptionsOf(sqlite3_file* database);

}  // namespace ksana::store_sqlite
