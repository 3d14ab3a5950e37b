#include "ksana/broker_rabbitmq/wire/transport.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace ksana::broker_rabbitmq {
namespace {

constexpr std::size_t kMostEncrypted = 65'536;  // at a time
constexpr std::size_t kReadBytes = 65'536;

std::string ErrnoText(int number) { return std::generic_category().message(number); }

Error Lost(int number) {
    return {Code::kUnavailable, fmt::format("the connection was lost: {}", ErrnoText(number))};
}

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

// Returns 0 or what went wrong (errno).
int ConnectTo(int fd, const addrinfo& address, int ms) {
    if (::connect(fd, address.ai_addr, address.ai_addrlen) == 0) return 0;
    if (errno != EINPROGRESS) return errno;
    pollfd entry{.fd = fd, .events = POLLOUT, .revents = 0};
    if (::poll(&entry, 1, ms) <= 0) return ETIMEDOUT;
    int fault = 0;
    socklen_t length = sizeof fault;
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &fault, &length);
    return fault;
}

}  // namespace

Error NoAnswer() { return {Code::kUnavailable, "no answer within the timeout"}; }

int MillisecondsUntil(SteadyPoint then, const Clock& clock) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(then - clock.SteadyNow());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 86'400'000));
}

Transport::~Transport() { ::close(fd_); }

Result<std::unique_ptr<Transport>> Transport::Connect(const broker::BrokerUrl& url,
                                                      const TlsContext* tls, const Clock& clock,
                                                      SteadyPoint deadline) {
    KSANA_TRY(const Addresses addresses, Resolve(url.host, url.port));
    Error last = NoAnswer();
    for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
        const int fd = ::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0) {
            last = Error(Code::kUnavailable, "no socket: " + ErrnoText(errno));
            continue;
        }
        auto made = std::make_unique<Transport>(Key(), fd);
        const int on = 1;
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        const int fault = ConnectTo(fd, *at, MillisecondsUntil(deadline, clock));
        if (fault != 0) {
            last = Error(Code::kUnavailable, "cannot connect: " + ErrnoText(fault));
            continue;
        }
        if (tls != nullptr) KSANA_TRY_VOID(made->ShakeHands(url, *tls, clock, deadline));
        return made;
    }
    return last;
}

Result<void> Transport::ShakeHands(const broker::BrokerUrl& url, const TlsContext& tls,
                                   const Clock& clock, SteadyPoint deadline) {
    KSANA_TRY(tls_, TlsStream::Make(tls, url.server_name.empty() ? url.host : url.server_name));
    for (;;) {
        auto complete = tls_->ShakeHands();
        // Also the alert that says why we refuse; whether it arrives does not matter.
        const auto sent = Flush();
        if (!complete) return std::move(complete).error();
        if (!sent) return sent.error();
        if (*complete) {
            tls_ready_ = true;
            return {};
        }
        std::string nothing;  // the handshake keeps what arrives
        KSANA_TRY(const bool read, Read(nothing));
        if (read) continue;
        const int ms = MillisecondsUntil(deadline, clock);
        if (ms == 0) return NoAnswer();
        Wait(false, -1, ms);
    }
}

Result<std::size_t> Transport::Send(std::string_view bytes) const {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
        const ssize_t count =
            ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count >= 0) {
            sent += static_cast<std::size_t>(count);
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            return Lost(errno);
        }
    }
    return sent;
}

Result<bool> Transport::Flush() {
    if (tls_) tls_->ToNetwork(encrypted_);
    if (encrypted_.empty()) return true;
    KSANA_TRY(const std::size_t sent, Send(encrypted_));
    encrypted_.erase(0, sent);
    return encrypted_.empty();
}

Result<std::size_t> Transport::Write(std::string_view bytes) {
    if (!tls_) return Send(bytes);
    std::size_t taken = 0;
    for (;;) {
        KSANA_TRY(const bool all_sent, Flush());
        if (!all_sent || taken == bytes.size()) return taken;
        KSANA_TRY(const std::size_t count, tls_->Encrypt(bytes.substr(taken, kMostEncrypted)));
        if (count == 0) return taken;
        taken += count;
    }
}

Result<bool> Transport::Read(std::string& bytes) {
    std::array<char, kReadBytes> buffer;
    ssize_t count = 0;
    do {
        count = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    if (count == 0) return Error(Code::kUnavailable, "the broker closed the connection");
    if (count < 0) {
        if (errno == EAGAIN) return false;
        return Lost(errno);
    }
    const std::string_view arrived(buffer.data(), static_cast<std::size_t>(count));
    if (!tls_) {
        bytes += arrived;
        return true;
    }
    tls_->FromNetwork(arrived);
    if (tls_ready_) KSANA_TRY_VOID(tls_->Decrypt(bytes));
    return true;
}

// A clock that stands still (in a test) does not make this wait longer: poll ends by itself.
bool Transport::Wait(bool to_write, int wake, int ms) const {
    std::array<pollfd, 2> entries = {pollfd{.fd = fd_, .events = POLLIN, .revents = 0},
                                     pollfd{.fd = wake, .events = POLLIN, .revents = 0}};
    if (to_write || !encrypted_.empty()) entries[0].events |= POLLOUT;
    if (::poll(entries.data(), wake < 0 ? 1 : 2, ms) <= 0) return false;
    return wake >= 0 && entries[1].revents != 0;
}

}  // namespace ksana::broker_rabbitmq
