#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace ksana::testing {

// An HTTP answer, parsed independently of Ksana's own parser.
struct RawAnswer {
    int status = 0;    // 0: no complete answer
    std::string head;  // includes the status line
    std::string body;

    // Returns the value of a header; "" if it is absent.
    std::string Field(std::string_view name) const {
        const std::string start = "\r\n" + std::string(name) + ": ";
        const std::size_t at = head.find(start);
        if (at == std::string::npos) return {};
        const std::size_t begin = at + start.size();
        return head.substr(begin, head.find("\r\n", begin) - begin);
    }
};

// A client on loopback that sends raw bytes. Sending and receiving time out after twenty seconds,
// so that a test fails instead of hanging. Owned by the test; one thread.
class RawClient {
  public:
    explicit RawClient(std::uint16_t port, int receive_buffer = 0)
        : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        if (receive_buffer > 0) {
            ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
        }
        const timeval patience{.tv_sec = 20, .tv_usec = 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connected_ = ::connect(socket_, std::bit_cast<sockaddr*>(&address), sizeof address) == 0;
    }
    RawClient(RawClient&& other) noexcept
        : socket_(std::exchange(other.socket_, -1)),
          connected_(other.connected_),
          rest_(std::move(other.rest_)) {}
    RawClient& operator=(RawClient&&) = delete;
    ~RawClient() { Close(); }

    bool connected() const { return connected_; }
    int socket() const { return socket_; }

    // Returns false if the server accepts no more bytes.
    bool Send(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    void ShutdownSend() const { ::shutdown(socket_, SHUT_WR); }
    void Close() {
        if (socket_ >= 0) ::close(std::exchange(socket_, -1));
    }
    // Closes the connection with a reset (RST).
    void Reset() {
        const linger now{.l_onoff = 1, .l_linger = 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        Close();
    }

    // Reads the next answer; `bodiless` for an answer to HEAD. Status 0 if the connection ends
    // first.
    RawAnswer Read(bool bodiless = false) {
        RawAnswer answer;
        std::size_t end = 0;
        while ((end = rest_.find("\r\n\r\n")) == std::string::npos) {
            if (!Receive()) return answer;
        }
        answer.head = rest_.substr(0, end + 2);
        rest_.erase(0, end + 4);
        const std::string length = answer.Field("Content-Length");
        const std::size_t size =
            bodiless || length.empty() ? 0 : std::strtoull(length.c_str(), nullptr, 10);
        while (rest_.size() < size) {
            if (!Receive()) return answer;
        }
        answer.body = rest_.substr(0, size);
        rest_.erase(0, size);
        answer.status = std::atoi(answer.head.substr(9, 3).c_str());
        return answer;
    }
    RawAnswer Ask(std::string_view request) {
        Send(request);
        return Read();
    }
    // Reads to the end. Returns whether the server has closed the connection and no unread bytes
    // are left.
    bool AtEnd() {
        while (Receive()) {
        }
        return ended_ && rest_.empty();
    }
    // Reads up to and including `text`; everything received if `text` does not arrive.
    std::string ReadUntil(std::string_view text) {
        std::size_t at = 0;
        while ((at = rest_.find(text)) == std::string::npos) {
            if (!Receive()) return std::exchange(rest_, {});
        }
        std::string read = rest_.substr(0, at + text.size());
        rest_.erase(0, read.size());
        return read;
    }
    // Reads until the connection ends.
    std::string ReadAll() {
        while (Receive()) {
        }
        return std::exchange(rest_, {});
    }

  private:
    bool Receive() {
        std::array<char, 16384> buffer{};
        const ssize_t count = ::recv(socket_, buffer.data(), buffer.size(), 0);
        if (count > 0) {
            rest_.append(buffer.data(), static_cast<std::size_t>(count));
            return true;
        }
        ended_ = count == 0 || errno == ECONNRESET;
        return false;
    }

    int socket_;
    bool connected_ = false;
    bool ended_ = false;
    std::string rest_;
};

}  // namespace ksana::testing
