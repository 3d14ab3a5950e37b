#include "ksana/base/log/log_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace ksana {
namespace {

// The group may read it, as a collector of logs does.
constexpr mode_t kMode = 0640;

}  // namespace

Result<LogFile> LogFile::Open(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kMode);
    if (descriptor >= 0) return LogFile(descriptor);
    return Error(Code::kInvalidArgument, fmt::format("cannot open the log file {}: {}", path,
                                                     std::generic_category().message(errno)));
}

LogFile::LogFile(LogFile&& other) noexcept : owned_(std::exchange(other.owned_, -1)) {}

LogFile& LogFile::operator=(LogFile&& other) noexcept {
    std::swap(owned_, other.owned_);
    return *this;
}

LogFile::~LogFile() {
    if (owned_ >= 0) ::close(owned_);
}

void LogFile::Write(std::string_view lines) {
    const int descriptor = owned_ >= 0 ? owned_ : STDERR_FILENO;
    char newline = '\n';
    std::size_t written = 0;
    while (written <= lines.size()) {
        const std::string_view rest = lines.substr(written);
        const std::array<iovec, 2> parts{
            {{const_cast<char*>(rest.data()), rest.size()}, {&newline, 1}}};
        const ssize_t count = ::writev(descriptor, parts.data(), static_cast<int>(parts.size()));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;
        written += static_cast<std::size_t>(count);
    }
}

}  // namespace ksana
