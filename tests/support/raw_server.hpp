#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace ksana::testing {

// A request, byte for byte.
struct RawRequest {
    std::string head;  // includes the empty line at its end
    std::string body;

    std::string Line() const { return head.substr(0, head.find("\r\n")); }

    // Returns the first header of that name, ignoring case; none if it is absent.
    std::optional<std::string> Header(std::string_view name) const {
        std::size_t at = head.find("\r\n");
        while (at != std::string::npos && at + 2 < head.size()) {
            const std::size_t end = head.find("\r\n", at + 2);
            const std::string line = head.substr(at + 2, end - at - 2);
            const std::size_t colon = line.find(':');
            if (colon == name.size() && strncasecmp(line.data(), name.data(), colon) == 0) {
                const std::size_t value = line.find_first_not_of(' ', colon + 1);
                return value == std::string::npos ? "" : line.substr(value);
            }
            at = end;
        }
        return std::nullopt;
    }
};

// One connection, as the script of a RawServer sees it. Belongs to the thread of the connection;
// valid until the script returns.
class RawPeer {
  public:
    RawPeer(int fd, int number) : fd_(fd), number_(number) {}

    int number() const { return number_; }  // of the connection; starts at 1

    // Reads the next request. None if the client has closed or the server stops.
    std::optional<RawRequest> Read() {
        std::size_t end = std::string::npos;
        while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
            if (!Fill()) return std::nullopt;
        }
        RawRequest request;
        request.head = buffer_.substr(0, end + 4);
        buffer_.erase(0, end + 4);
        std::size_t length = 0;
        if (const auto text = request.Header("content-length")) {
            std::from_chars(text->data(), text->data() + text->size(), length);
        }
        while (buffer_.size() < length) {
            if (!Fill()) return std::nullopt;
        }
        request.body = buffer_.substr(0, length);
        buffer_.erase(0, length);
        return request;
    }

    // Returns false if the client has closed the connection.
    bool Send(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }

    // Sends an answer with a Content-Length; `headers` are whole lines.
    bool Answer(int status, std::string_view body = "", std::string_view headers = "") {
        std::string text = "HTTP/1.1 " + std::to_string(status) + " Some Reason\r\n";
        text += headers;
        if (status != 204) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
        text += "\r\n";
        text += body;
        return Send(text);
    }

    // Waits until the client closes or the server stops, at most `milliseconds` (-1: no limit).
    // Returns whether the connection is closed.
    bool AwaitClose(int milliseconds = -1) {
        pollfd poll_fd{fd_, POLLIN, 0};
        while (poll(&poll_fd, 1, milliseconds) > 0) {
            if (!Fill()) return true;
        }
        return false;
    }

    // Closing will send a reset: unread bytes are discarded and the client sees an error.
    void ResetOnClose() {
        const linger none{1, 0};
        setsockopt(fd_, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    }

  private:
    bool Fill() {
        char bytes[4096];
        const auto got = recv(fd_, bytes, sizeof bytes, 0);
        if (got > 0) buffer_.append(bytes, static_cast<std::size_t>(got));
        return got > 0;
    }

    int fd_;
    int number_;
    std::string buffer_;
};

// A server on a free port of 127.0.0.1 that runs a script for every connection, on a thread of its
// own, and closes the connection when the script returns. The destructor shuts down all connections
// and joins their threads. Owned by the test.
class RawServer {
  public:
    using Script = std::function<void(RawPeer&)>;

    explicit RawServer(Script script) : script_(std::move(script)) {
        listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        void* plain = &address;
        bind(listener_, static_cast<sockaddr*>(plain), size);
        listen(listener_, 1024);
        getsockname(listener_, static_cast<sockaddr*>(plain), &size);
        port_ = ntohs(address.sin_port);
        acceptor_ = std::jthread([this] { Accept(); });
    }

    ~RawServer() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
            for (const int fd : open_) shutdown(fd, SHUT_RDWR);
        }
        shutdown(listener_, SHUT_RDWR);
        acceptor_.join();
        threads_.clear();
        close(listener_);
    }

    RawServer(const RawServer&) = delete;
    RawServer& operator=(const RawServer&) = delete;

    std::uint16_t port() const { return port_; }
    int accepted() const { return accepted_; }

    std::string Url(std::string_view path = "/") const {
        return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
    }

  private:
    void Accept() {
        for (int fd = accept(listener_, nullptr, nullptr); fd >= 0;
             fd = accept(listener_, nullptr, nullptr)) {
            const std::lock_guard lock(mutex_);
            if (stopping_) {
                close(fd);
                return;
            }
            open_.push_back(fd);
            threads_.emplace_back([this, fd, number = ++accepted_] { Serve(fd, number); });
        }
    }

    void Serve(int fd, int number) {
        RawPeer peer(fd, number);
        script_(peer);
        const std::lock_guard lock(mutex_);
        std::erase(open_, fd);
        close(fd);
    }

    const Script script_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<int> accepted_{0};
    std::mutex mutex_;
    bool stopping_ = false;              // guarded by mutex_
    std::vector<int> open_;              // guarded by mutex_
    std::vector<std::jthread> threads_;  // filled by the acceptor thread only
    std::jthread acceptor_;
};

}  // namespace ksana::testing
