#include "apps/ksana/toolkit/output_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ksana/base/text/utf8.hpp"

namespace ksana::app {
namespace {

namespace fs = std::filesystem;

Error Trouble(const std::string& path, int error) {
    const bool missing = error == ENOENT || error == ENOTDIR;
    const bool denied = error == EACCES || error == EPERM || error == EROFS;
    return {missing  ? Code::kNotFound
            : denied ? Code::kPermissionDenied
                     : Code::kInternal,
            fmt::format("cannot write {}: {}", Printable(path),
                        std::generic_category().message(error))};
}

Error IsThere(const std::string& path) {
    return {Code::kAlreadyExists,
            fmt::format("{} is there already; --force replaces it", Printable(path))};
}

// Some file systems do not support RENAME_NOREPLACE. There, the check in Create() has to suffice.
int Rename(const std::string& from, const std::string& to, bool replace) {
    if (!replace) {
        if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
            return 0;
        }
        if (errno != EINVAL && errno != ENOSYS) return errno;
    }
    return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

// A rename is durable only once the folder is synced.
void SyncFolderOf(const std::string& path) {
    const std::string folder = fs::path(path).parent_path();
    const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    (void)::fsync(descriptor);
    (void)::close(descriptor);
}

}  // namespace

Result<OutputFile> OutputFile::Create(const std::string& wanted, bool replace) {
    std::error_code ignored;
    std::string path = wanted;
    if (fs::is_symlink(path, ignored)) {
        if (const fs::path real = fs::weakly_canonical(path, ignored); !real.empty()) path = real;
    }
    const fs::file_status there = fs::status(path, ignored);
    if (fs::exists(there)) {
        if (!fs::is_regular_file(there)) {
            return Error(
                Code::kInvalidArgument,
                fmt::format("{} is not a file; use - for standard output", Printable(wanted)));
        }
        if (!replace) return IsThere(wanted);
    }
    std::string temporary = path + ".XXXXXX";
    const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
    if (descriptor < 0) return Trouble(wanted, errno);
    Owned file(::fdopen(descriptor, "w"));
    if (!file) {
        (void)::close(descriptor);
        (void)::unlink(temporary.c_str());
        return Trouble(wanted, ENOMEM);
    }
    std::FILE* const stream = file.get();
    return OutputFile(stream, std::move(file), std::move(path), std::move(temporary), replace);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : stream_(std::exchange(other.stream_, nullptr)),
      owned_(std::move(other.owned_)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")),
      replace_(other.replace_) {}

OutputFile::~OutputFile() {
    owned_.reset();
    if (!temporary_.empty()) (void)::unlink(temporary_.c_str());
}

Error OutputFile::Failed(int error) const {
    return Trouble(path_.empty() ? "the output" : path_, error);
}

Result<void> OutputFile::Write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stream_) == text.size()) return {};
    return Failed(errno);
}

Result<void> OutputFile::Commit() {
    if (std::fflush(stream_) != 0) return Failed(errno);
    if (path_.empty()) return {};
    if (::fsync(::fileno(stream_)) != 0) return Failed(errno);
    const int error = Rename(temporary_, path_, replace_);
    if (error == EEXIST) return IsThere(path_);
    if (error != 0) return Failed(error);
    temporary_.clear();
    SyncFolderOf(path_);
    return {};
}

namespace {

constexpr std::chrono::milliseconds kPace{200};

}  // namespace

ProgressLine::~ProgressLine() {
    if (shown_) process_.redraw("");
}

void ProgressLine::Show(std::int64_t records) {
    if (!process_.redraw) return;
    const SteadyPoint now = process_.clock.SteadyNow();
    if (shown_ && now - *shown_ < kPace) return;
    shown_ = now;
    process_.redraw(fmt::format("{} {} records", verb_, records));
}

}  // namespace ksana::app
