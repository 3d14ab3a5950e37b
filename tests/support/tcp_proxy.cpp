#include "support/tcp_proxy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <utility>

namespace ksana::testing {
namespace {

constexpr int kSliceMs = 20;

sockaddr_in Local(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

// The sockets interface takes every address as a plain sockaddr.
sockaddr Plain(const sockaddr_in& address) { return std::bit_cast<sockaddr>(address); }

bool Readable(int socket, int timeout_ms) {
    pollfd entry{.fd = socket, .events = POLLIN, .revents = 0};
    return ::poll(&entry, 1, timeout_ms) > 0;
}

// Returns "" at the end of the stream.
std::string Receive(int socket) {
    std::array<char, 65536> buffer{};
    const ssize_t count = ::recv(socket, buffer.data(), buffer.size(), 0);
    return count <= 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(count));
}

bool SendAll(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

}  // namespace

TcpProxy::TcpProxy(std::uint16_t server_port, std::string trigger, const std::string& answer)
    : server_port_(server_port),
      trigger_(std::move(trigger)),
      answer_(answer.empty() ? trigger_ : answer) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr any = Plain(Local(0));
    ::bind(listener_, &any, sizeof any);
    ::listen(listener_, 64);
    sockaddr bound{};
    socklen_t length = sizeof bound;
    ::getsockname(listener_, &bound, &length);
    port_ = ntohs(std::bit_cast<sockaddr_in>(bound).sin_port);
    acceptor_ = std::jthread([this](const std::stop_token& stop) { Accept(stop); });
}

TcpProxy::~TcpProxy() {
    acceptor_.request_stop();
    acceptor_.join();
    const std::lock_guard lock(mutex_);
    for (std::jthread& server : servers_) server.request_stop();
    servers_.clear();
    ::close(listener_);
}

void TcpProxy::Set(Mode mode, Mode after_cut) {
    after_cut_ = after_cut;
    mode_ = mode;
}

void TcpProxy::Accept(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        if (!Readable(listener_, kSliceMs)) continue;
        const int client = ::accept(listener_, nullptr, nullptr);
        if (client < 0) continue;
        const std::lock_guard lock(mutex_);
        servers_.emplace_back(
            [this, client](const std::stop_token& inner) { Serve(inner, client); });
    }
}

void TcpProxy::Serve(const std::stop_token& stop, int client) {
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr address = Plain(Local(server_port_));
    if (mode_ != Mode::kRefuse && ::connect(server, &address, sizeof address) == 0) {
        while (Pump(stop, client, server)) {
        }
    }
    ::close(server);
    ::close(client);
}

// Forwards bytes once in each direction. Returns false if the connection is over.
bool TcpProxy::Pump(const std::stop_token& stop, int client, int server) {
    if (stop.stop_requested() || mode_ == Mode::kRefuse) return false;
    if (mode_ == Mode::kStall) {
        ::poll(nullptr, 0, kSliceMs);
        return true;
    }
    std::array<pollfd, 2> entries = {pollfd{.fd = client, .events = POLLIN, .revents = 0},
                                     pollfd{.fd = server, .events = POLLIN, .revents = 0}};
    if (::poll(entries.data(), entries.size(), kSliceMs) <= 0) return true;
    if (entries[0].revents != 0) {
        const std::string bytes = Receive(client);
        if (bytes.empty() || !FromClient(client, server, bytes)) return false;
    }
    if (entries[1].revents != 0) {
        const std::string bytes = Receive(server);
        if (bytes.empty()) return false;
        if (!SendAll(client, bytes)) return false;
    }
    return true;
}

bool TcpProxy::FromClient(int /*client*/, int server, const std::string& bytes) {
    const Mode mode = mode_;
    const bool cuts = mode == Mode::kCutBefore || mode == Mode::kCutAfter;
    if (!cuts || bytes.find(trigger_) == std::string::npos) return SendAll(server, bytes);
    if (mode == Mode::kCutAfter) {
        SendAll(server, bytes);
        AwaitAnswer(server);
    }
    ++cuts_;
    mode_ = after_cut_.load();
    return false;
}

// Waits until the server's answer is there.
void TcpProxy::AwaitAnswer(int server) {
    std::string answer;
    while (answer.find(answer_) == std::string::npos && Readable(server, 5000)) {
        const std::string bytes = Receive(server);
        if (bytes.empty()) return;
        answer += bytes;
    }
}

}  // namespace ksana::testing
