#include "ksana/lock_redis/wire/socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

namespace ksana::lock_redis {
namespace {

std::string ErrnoText(int number) { return std::generic_category().message(number); }

Error NoAnswer() { return {Code::kUnavailable, "no answer within the timeout"}; }

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<Addresses> Resolve(const std::string& host, std::uint16_t port) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int fault = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
    if (fault != 0) {
        return Error(Code::kUnavailable,
                     fmt::format("the host name has no address: {}", gai_strerror(fault)));
    }
    return Addresses(found, &freeaddrinfo);
}

}  // namespace

Socket::Socket(Socket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), cut_(other.cut_), receive_ms_(other.receive_ms_) {}

Socket& Socket::operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(cut_, other.cut_);
    std::swap(receive_ms_, other.receive_ms_);
    return *this;
}

Socket::~Socket() {
    if (fd_ >= 0) ::close(fd_);
}

Result<Socket> Socket::Connect(const std::string& host, std::uint16_t port,
                               const Deadline& deadline) {
    KSANA_TRY(const Addresses addresses, Resolve(host, port));
    Error last = NoAnswer();
    for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
        Socket made(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (made.fd_ < 0) {
            last = Error(Code::kUnavailable, "no socket: " + ErrnoText(errno));
            continue;
        }
        const int on = 1;
        ::setsockopt(made.fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        int fault = ::connect(made.fd_, at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
        if (fault == EINPROGRESS) {
            if (auto ready = made.Await(POLLOUT, deadline); !ready) {
                last = std::move(ready).error();
                continue;
            }
            socklen_t length = sizeof fault;
            ::getsockopt(made.fd_, SOL_SOCKET, SO_ERROR, &fault, &length);
        }
        if (fault == 0) {
            ::fcntl(made.fd_, F_SETFL, 0);  // recv waits
            return made;
        }
        last = Error(Code::kUnavailable, "cannot connect: " + ErrnoText(fault));
    }
    return last;
}

// A clock that stands still (in a test) does not make this wait longer: poll ends by itself.
Result<void> Socket::Await(short events, const Deadline& deadline) const {
    pollfd entry{.fd = fd_, .events = events, .revents = 0};
    for (;;) {
        const int ready = ::poll(&entry, 1, deadline.RemainingMs());
        if (ready > 0) return {};
        if (ready == 0) return NoAnswer();
        if (errno != EINTR) return Error(Code::kUnavailable, "poll: " + ErrnoText(errno));
    }
}

Error Socket::Ended(std::string_view why) {
    cut_ = true;
    return {Code::kUnavailable, fmt::format("the connection was closed: {}", why)};
}

Result<void> Socket::Send(std::string_view bytes, const Deadline& deadline) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(count));
        } else if (errno == EAGAIN) {
            KSANA_TRY_VOID(Await(POLLOUT, deadline));
        } else if (errno != EINTR) {
            return Ended(ErrnoText(errno));
        }
    }
    return {};
}

// A poll before each recv would be a third of the driver's own time in a call. The kernel's timeout
// is set anew only if it is too far from the deadline: at most an eighth too late, or so early that
// a second recv would be needed more often than not.
void Socket::LimitReceive(int remaining_ms) {
    if (receive_ms_ <= remaining_ms + remaining_ms / 8 && receive_ms_ > remaining_ms / 2) return;
    receive_ms_ = std::max(remaining_ms, 1);
    const timeval limit{.tv_sec = receive_ms_ / 1000, .tv_usec = receive_ms_ % 1000 * 1000};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

Result<void> Socket::Receive(std::string& bytes, const Deadline& deadline) {
    std::array<char, 4096> buffer;
    for (;;) {
        const int remaining_ms = deadline.RemainingMs();
        LimitReceive(remaining_ms);
        const ssize_t count = ::recv(fd_, buffer.data(), buffer.size(), 0);
        if (count > 0) {
            bytes.append(buffer.data(), static_cast<std::size_t>(count));
            return {};
        }
        if (count == 0) return Ended("by the server");
        if (errno == EAGAIN) {
            if (receive_ms_ >= remaining_ms) return NoAnswer();
            receive_ms_ = 0;  // it was the timeout of an earlier call
        } else if (errno != EINTR) {
            return Ended(ErrnoText(errno));
        }
    }
}

}  // namespace ksana::lock_redis
