#include "ksana/server/settings/token_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "ksana/base/process/descriptor.hpp"

namespace ksana::server {
namespace {

constexpr std::size_t kShortest = 16;
constexpr std::size_t kLongest = 512;

bool IsToken(std::string_view text) {
    return text.size() >= kShortest && text.size() <= kLongest &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

// A first line is far shorter; what follows it is not read.
constexpr std::size_t kMostRead = 64 * 1024;
// How long the writer of a pipe may take for its first line.
constexpr int kPipePatienceMs = 10'000;

Error Refused(std::string text) { return {Code::kInvalidArgument, std::move(text)}; }

Error Unreadable(const std::string& path, int number) {
    return Refused(
        fmt::format("cannot read {}: {}", path, std::generic_category().message(number)));
}

// A pipe is the `<(…)` of a shell: its other end decides who reads it.
Result<void> CheckSecret(const std::string& path, const struct stat& facts) {
    if (S_ISFIFO(facts.st_mode)) return {};
    if (!S_ISREG(facts.st_mode)) return Refused(fmt::format("{} is not a file", path));
    constexpr mode_t kOfOthers = S_IROTH | S_IWOTH | S_IWGRP;
    if ((facts.st_mode & kOfOthers) == 0) return {};
    return Refused(
        fmt::format("{} is secret, and its permissions ({:04o}) let others read or "
                    "change it: chmod 600 {}",
                    path, facts.st_mode & 07777U, path));
}

// Reads up to the end of the first line, of the file, or kMostRead.
Result<std::string> ReadLine(int file, const std::string& path) {
    std::string text;
    std::array<char, 4096> piece{};
    while (text.find('\n') == std::string::npos && text.size() < kMostRead) {
        struct pollfd wanted {
            .fd = file, .events = POLLIN, .revents = 0
        };
        const int ready = ::poll(&wanted, 1, kPipePatienceMs);
        if (ready == 0) return Refused(fmt::format("nobody writes into the pipe {}", path));
        if (ready < 0 && errno != EINTR) return Unreadable(path, errno);
        if (ready < 0) continue;
        const ssize_t got = ::read(file, piece.data(), piece.size());
        if (got < 0 && errno != EINTR && errno != EAGAIN) return Unreadable(path, errno);
        if (got == 0) break;
        if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
    }
    text.resize(std::min(text.find('\n'), text.size()));
    text.erase(text.find_last_not_of(" \r") + 1);
    return text;
}

Result<void> Look(int file, const std::string& path) {
    struct stat facts {};
    if (file < 0 || ::fstat(file, &facts) != 0) return Unreadable(path, errno);
    return CheckSecret(path, facts);
}

// Does not wait for the writer of a pipe that nobody has opened.
int Open(const std::string& path) {
    return ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

}  // namespace

Result<void> CheckSecretFile(const std::string& path) {
    const Descriptor file(Open(path));
    return Look(file.number(), path);
}

Result<std::string> ReadSecretFile(const std::string& path) {
    const Descriptor file(Open(path));
    KSANA_TRY_VOID(Look(file.number(), path));
    KSANA_TRY(std::string line, ReadLine(file.number(), path));
    if (!line.empty()) return line;
    return Refused(fmt::format("the first line of {} is empty", path));
}

Result<std::string> ReadTokenFile(const std::string& path) {
    auto token = ReadSecretFile(path);
    if (!token || IsToken(*token)) return token;
    return Error(Code::kInvalidArgument,
                 fmt::format("the first line of {} must be a token of {} to {} "
                             "printable characters without blanks",
                             path, kShortest, kLongest));
}

}  // namespace ksana::server
