#include "ksana/server/systemd_notice.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstring>

namespace ksana::server {
namespace {

std::string ValueOf(const std::map<std::string, std::string>& environment, const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
}

}  // namespace

SystemdNotice::SystemdNotice(const std::map<std::string, std::string>& environment)
    : socket_(ValueOf(environment, "NOTIFY_SOCKET")) {
    const std::string text = ValueOf(environment, "WATCHDOG_USEC");
    std::int64_t micros = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), micros);
    if (error == std::errc() && end == text.data() + text.size() && micros > 1) {
        alive_every_ = Duration(micros / 2);
    }
}

void SystemdNotice::Send(std::string_view state) const {
    sockaddr_un address{};
    if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, socket_.data(), socket_.size());
    // A leading @ means an abstract socket, whose name begins with a zero byte.
    if (socket_.front() == '@') address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
    const int file = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0) return;
    const void* const generic = &address;
    (void)::sendto(file, state.data(), state.size(), MSG_NOSIGNAL,
                   static_cast<const sockaddr*>(generic), length);
    ::close(file);
}

}  // namespace ksana::server
