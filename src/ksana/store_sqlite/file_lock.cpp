#include "ksana/store_sqlite/file_lock.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace ksana::store_sqlite {

Result<FileLock> FileLock::Take(const std::string& database_path) {
    const std::string path = database_path + ".lock";
    constexpr mode_t kReadableByAll = 0644;
    FileLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kReadableByAll));
    if (lock.descriptor_ < 0) {
        return Error(Code::kUnavailable, fmt::format("cannot open {}: {}", path,
                                                     std::generic_category().message(errno)));
    }
    if (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            return Error(Code::kUnavailable,
                         fmt::format("{} is in use by another process", database_path));
        }
        return Error(Code::kUnavailable, fmt::format("cannot lock {}: {}", path,
                                                     std::generic_category().message(errno)));
    }
    return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

FileLock::~FileLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace ksana::store_sqlite
