#include "queue/wire.hpp"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ksana::bench {
namespace {

int Connect(int port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const void* const generic = &address;
    if (::connect(fd, static_cast<const sockaddr*>(generic), sizeof address) != 0) {
        Fail(fmt::format("connect: {}", std::strerror(errno)));
    }
    return fd;
}

std::size_t NumberAt(std::string_view text) {
    std::size_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace

void Fail(const std::string& why) {
    fmt::print(stderr, "{}\n", why);
    std::exit(1);
}

Wire::Wire(int port) : fd_(Connect(port)) {}

Wire::~Wire() { ::close(fd_); }

void Wire::Post(std::string_view path, std::string_view body, std::string_view headers) {
    out_.clear();
    fmt::format_to(std::back_inserter(out_),
                   "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                   "Content-Length: {}\r\n{}\r\n",
                   path, body.size(), headers);
    out_ += body;
    in_.clear();
    whole_ = 0;
    std::string_view left = out_;
    while (!left.empty()) {
        const ssize_t sent = ::send(fd_, left.data(), left.size(), MSG_NOSIGNAL);
        if (sent <= 0) Fail(fmt::format("send: {}", std::strerror(errno)));
        left.remove_prefix(static_cast<std::size_t>(sent));
    }
}

bool Wire::Receive() {
    std::array<char, 65'536> room;
    const ssize_t count = ::recv(fd_, room.data(), room.size(), 0);
    if (count <= 0) Fail(count == 0 ? "the server has gone" : std::strerror(errno));
    in_.append(room.data(), static_cast<std::size_t>(count));
    if (whole_ == 0) {
        const std::size_t end = in_.find("\r\n\r\n");
        if (end == std::string::npos) return false;
        const std::string_view head = std::string_view(in_).substr(0, end);
        constexpr std::string_view kLength = "\r\nContent-Length: ";
        const std::size_t length = head.find(kLength);
        status_ = static_cast<int>(NumberAt(head.substr(head.find(' ') + 1)));
        body_at_ = end + 4;
        whole_ =
            body_at_ +
            (length == std::string_view::npos ? 0 : NumberAt(head.substr(length + kLength.size())));
    }
    return in_.size() >= whole_;
}

std::string_view Wire::body() const { return std::string_view(in_).substr(body_at_); }

}  // namespace ksana::bench
