#include "ksana/store_json/durable_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "ksana/base/process/descriptor.hpp"

namespace ksana::store_json {
namespace {

constexpr mode_t kMode = 0600;

Error SystemError(std::string_view what, const std::string& path, int number) {
    const Code code = number == ENOSPC || number == EDQUOT || number == EFBIG ? Code::kStorageFull
                      : number == ENOENT                                      ? Code::kNotFound
                                                                              : Code::kUnavailable;
    return {code,
            fmt::format("cannot {} {}: {}", what, path, std::generic_category().message(number))};
}

Result<void> WriteAll(int descriptor, std::string_view text, std::int64_t at,
                      const std::string& path) {
    while (!text.empty()) {
        const ssize_t written = ::pwrite(descriptor, text.data(), text.size(), at);
        if (written < 0) {
            if (errno == EINTR) continue;
            return SystemError("write", path, errno);
        }
        text.remove_prefix(static_cast<std::size_t>(written));
        at += written;
    }
    return {};
}

Result<void> SyncFolderOf(const std::string& path) {
    const std::filesystem::path parent = std::filesystem::path(path).parent_path();
    const std::string folder = parent.empty() ? std::string(1, '.') : parent.string();
    const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened.ok()) return SystemError("open", folder, errno);
    if (::fsync(opened.number()) != 0) return SystemError("sync", folder, errno);
    return {};
}

Result<void> WriteAndRename(int descriptor, std::string_view text, const std::string& temporary,
                            const std::string& path) {
    KSANA_TRY_VOID(WriteAll(descriptor, text, 0, temporary));
    if (::fsync(descriptor) != 0) return SystemError("sync", temporary, errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        return SystemError("rename", temporary, errno);
    }
    return {};
}

}  // namespace

Result<void> ReplaceFile(const std::string& path, std::string_view text) {
    KSANA_TRY(AppendFile file, AppendFile::Replace(path, text));
    return file.Settle();
}

Result<std::string> ReadWholeFile(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.ok()) return SystemError("open", path, errno);
    std::string text;
    constexpr std::size_t kPiece = 1 << 18;
    for (;;) {
        const std::size_t before = text.size();
        text.resize(before + kPiece);
        const ssize_t got = ::read(file.number(), text.data() + before, kPiece);
        if (got < 0 && errno != EINTR) return SystemError("read", path, errno);
        text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got == 0) return text;
    }
}

Result<std::string> SetAside(const std::string& path) {
    KSANA_TRY(std::string aside, KeepBadCopy(path));
    if (::unlink(path.c_str()) != 0) return SystemError("remove", path, errno);
    KSANA_TRY_VOID(SyncFolderOf(path));
    return aside;
}

Result<std::string> KeepBadCopy(const std::string& path) {
    const std::filesystem::path from(path);
    constexpr int kMost = 10'000;
    for (int n = 0; n < kMost; ++n) {
        const std::string number = n == 0 ? "" : fmt::format(".{}", n);
        const std::string to = from.parent_path() / fmt::format("{}.bad{}{}", from.stem().string(),
                                                                number, from.extension().string());
        // link fails if the target exists, so it overwrites nothing, even if another process does
        // the same.
        if (::link(path.c_str(), to.c_str()) == 0) {
            KSANA_TRY_VOID(SyncFolderOf(path));
            return to;
        }
        if (errno != EEXIST) return SystemError("set aside", path, errno);
    }
    return Error(Code::kExhausted, fmt::format("there are {} bad copies of {}", kMost, path));
}

Result<AppendFile> AppendFile::Open(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
    if (descriptor < 0) return SystemError("open", path, errno);
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) {
        const int number = errno;
        ::close(descriptor);
        return SystemError("look at", path, number);
    }
    AppendFile file(path, descriptor, status.st_size);
    KSANA_TRY_VOID(SyncFolderOf(path));
    return file;
}

Result<AppendFile> AppendFile::Replace(const std::string& path, std::string_view text) {
    const std::string temporary = path + ".tmp";
    const int descriptor = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
    if (descriptor < 0) return SystemError("open", temporary, errno);
    AppendFile file(path, descriptor, static_cast<std::int64_t>(text.size()));
    if (auto written = WriteAndRename(descriptor, text, temporary, path); !written) {
        ::unlink(temporary.c_str());
        return std::move(written).error();
    }
    file.folder_unsynced_ = true;
    return file;
}

AppendFile::AppendFile(AppendFile&& other) noexcept { *this = std::move(other); }

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(size_, other.size_);
    std::swap(dirty_, other.dirty_);
    std::swap(folder_unsynced_, other.folder_unsynced_);
    return *this;
}

AppendFile::~AppendFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> AppendFile::Append(std::string_view text) {
    KSANA_TRY_VOID(Settle());
    auto written = WriteAll(descriptor_, text, size_, path_);
    if (written && ::fdatasync(descriptor_) != 0) written = SystemError("sync", path_, errno);
    if (!written) {
        dirty_ = true;
        (void)CutTo(size_);  // Settle tries again
        return written;
    }
    size_ += static_cast<std::int64_t>(text.size());
    return {};
}

Result<void> AppendFile::Settle() {
    if (dirty_) KSANA_TRY_VOID(CutTo(size_));
    if (folder_unsynced_) KSANA_TRY_VOID(SyncFolderOf(path_));
    folder_unsynced_ = false;
    return {};
}

Result<void> AppendFile::CutTo(std::int64_t size) {
    size_ = size;
    dirty_ = true;
    if (::ftruncate(descriptor_, size) != 0) return SystemError("cut", path_, errno);
    if (::fdatasync(descriptor_) != 0) return SystemError("sync", path_, errno);
    dirty_ = false;
    return {};
}

}  // namespace ksana::store_json
