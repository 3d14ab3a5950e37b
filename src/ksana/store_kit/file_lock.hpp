#pragma once

#include <string>

#include "ksana/base/error/result.hpp"

namespace ksana::store_kit {

// Files of a store are readable by their owner only.
inline constexpr unsigned kOwnerOnly = 0600;

// Returns the path of the file itself if `path` is a symbolic link; SQLite, too, names the files
// beside a database after the file that a link leads to.
std::string WithoutLink(const std::string& path);

// Makes the folder of a file, for its owner only. An error is left to the opening of the file.
void MakeFolderOf(const std::string& path);

// Exclusive locks on a file beside a store and on the store's data itself, held by the one process
// that writes the store: the second cannot be deleted away, and is met by every name of the data.
// The operating system releases both when the process ends for any reason; the files stay. Movable.
// Not thread-safe.
class FileLock {
  public:
    // Creates and locks `path`.lock, and `data`, which is created empty. Does not wait: returns
    // kUnavailable if another process holds a lock or a file cannot be opened. The data must not be
    // in use by this process: closing any descriptor of it releases the locks that SQLite has on
    // it, so this lock must also be the last to close it.
    static Result<FileLock> Take(const std::string& path, const std::string& data);

    FileLock() = default;
    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&& other) noexcept;
    ~FileLock();

    // The data is now another file of the same name. Returns kUnavailable if another process has
    // locked it meanwhile; the caller must not write it then.
    Result<void> Follow();

  private:
    FileLock(std::string path, std::string data) : path_(std::move(path)), data_(std::move(data)) {}

    std::string path_;
    std::string data_;
    int beside_ = -1;
    int inside_ = -1;
};

}  // namespace ksana::store_kit
