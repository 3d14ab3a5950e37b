#include "ksana/store_kit/file_lock.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace ksana::store_kit {
namespace {

// Far behind all data, and not among the bytes that SQLite locks.
constexpr off_t kLockedByte = off_t{1} << 62;

Error SystemError(std::string_view what, const std::string& path, int number) {
    return {Code::kUnavailable,
            fmt::format("cannot {} {}: {}", what, path, std::generic_category().message(number))};
}

Error InUse(const std::string& path) {
    return {Code::kUnavailable, fmt::format("{} is in use by another process", path)};
}

Result<int> OpenFile(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerOnly);
    if (descriptor < 0) return SystemError("open", path, errno);
    // Of an earlier version, or copied by a user. A failure means that another user owns it.
    struct stat facts {};
    constexpr mode_t kOfOthers = 07;
    if (::fstat(descriptor, &facts) == 0 && (facts.st_mode & kOfOthers) != 0) {
        (void)::fchmod(descriptor, facts.st_mode & 0770U);
    }
    return descriptor;
}

// Locks one byte for this open file: other than the locks of the process, which SQLite uses, it is
// not released when another descriptor of the file is closed.
bool LockByte(int descriptor) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = kLockedByte;
    lock.l_len = 1;
    return ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

}  // namespace

std::string WithoutLink(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_symlink(path, error)) return path;
    const auto real = std::filesystem::weakly_canonical(path, error);
    return error ? path : real.string();
}

void MakeFolderOf(const std::string& path) {
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (folder.empty() || std::filesystem::exists(folder, error)) return;
    std::filesystem::create_directories(folder.parent_path(), error);
    constexpr mode_t kFolderOfOwner = 0700;
    (void)::mkdir(folder.c_str(), kFolderOfOwner);
}

Result<FileLock> FileLock::Take(const std::string& path, const std::string& data) {
    FileLock lock(path, data);
    KSANA_TRY(lock.beside_, OpenFile(path + ".lock"));
    if (::flock(lock.beside_, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return InUse(path);
        return SystemError("lock", path + ".lock", errno);
    }
    KSANA_TRY_VOID(lock.Follow());
    return lock;
}

Result<void> FileLock::Follow() {
    KSANA_TRY(const int descriptor, OpenFile(data_));
    if (!LockByte(descriptor)) {
        const int number = errno;
        ::close(descriptor);
        if (number == EAGAIN || number == EACCES) return InUse(path_);
        return SystemError("lock", data_, number);
    }
    if (inside_ >= 0) ::close(inside_);
    inside_ = descriptor;
    return {};
}

FileLock::FileLock(FileLock&& other) noexcept { *this = std::move(other); }

FileLock& FileLock::operator=(FileLock&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(data_, other.data_);
    std::swap(beside_, other.beside_);
    std::swap(inside_, other.inside_);
    return *this;
}

FileLock::~FileLock() {
    if (inside_ >= 0) ::close(inside_);
    if (beside_ >= 0) ::close(beside_);
}

}  // namespace ksana::store_kit
