#include "ksana/http_client/plain/plain_connection.hpp"

#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "ksana/http_client/curl/socket_address.hpp"
#include "ksana/http_client/failure_text.hpp"

namespace ksana::http_client {
namespace {

// The same as libcurl's.
constexpr int kKeepAliveSeconds = 60;

void SetOption(int fd, int level, int option, int value) {
    setsockopt(fd, level, option, &value, sizeof value);  // an older kernel may not know it
}

}  // namespace

int PlainConnection::Open(const Target& target, int& fd) {
    const SocketAddress address = SocketAddressOf(target);
    fd = socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    if (fd < 0) return errno;
    SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    SetOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    SetOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveSeconds);
    SetOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveSeconds);
    if (connect(fd, address.get(), address.size) == 0 || errno == EINPROGRESS) return 0;
    const int error = errno;
    close(fd);
    return error;
}

PlainConnection::PlainConnection(int fd, PlainHost& host, const Target& target, SteadyPoint now)
    : idle_since(now),
      fd_(fd),
      host_(host),
      target_(target),
      remote_(WithPort(target.address.ToString(), target.port)),
      made_(now) {}

PlainConnection::~PlainConnection() { close(fd_); }

void PlainConnection::Attach(PlainCall& call) {
    call_ = &call;
    call.connection = this;
}

void PlainConnection::TakeCall() {
    if (call_ != nullptr) call_->connection = nullptr;
    call_ = nullptr;
}

int PlainConnection::ConnectError() const {
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

PlainConnection::Outcome PlainConnection::Carry(PlainCall& call) {
    Attach(call);
    call.intake.Begin();
    parser_.Begin(call.intake, call.answer, call.request.method == HttpMethod::kHead);
    sent_ = 0;
    flushed_ = false;
    got_bytes_ = false;
    reusable_ = false;
    return Flush();
}

// Sends the head and then the body, from where the last send stopped.
PlainConnection::Outcome PlainConnection::Flush() {
    if (flushed_) return Outcome::kNothing;
    const PlainRequest& message = call_->message;
    const std::string_view head = message.bytes;
    const std::string_view body = message.body_inside ? std::string_view() : call_->request.body;
    while (sent_ < head.size() + body.size()) {
        const std::string_view first = head.substr(std::min(sent_, head.size()));
        const std::string_view second = body.substr(sent_ > head.size() ? sent_ - head.size() : 0);
        std::array<iovec, 2> parts{};
        // sendmsg does not write to these buffers.
        parts[0] = {const_cast<char*>(first.data()), first.size()};
        parts[1] = {const_cast<char*>(second.data()), second.size()};
        msghdr header{};
        header.msg_iov = parts.data();
        header.msg_iovlen = 2;
        const auto sent = second.empty() ? send(fd_, first.data(), first.size(), MSG_NOSIGNAL)
                                         : sendmsg(fd_, &header, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR) continue;
            if (errno == EAGAIN || errno == EWOULDBLOCK) return Outcome::kNothing;
            return Fail("Send failure", errno);
        }
        sent_ += static_cast<std::size_t>(sent);
    }
    flushed_ = true;
    return Outcome::kNothing;
}

PlainConnection::Outcome PlainConnection::Read(std::string& buffer, int most, SteadyPoint now) {
    for (int i = 0; i < most; ++i) {
        const auto got = recv(fd_, buffer.data(), buffer.size(), 0);
        if (got < 0) {
            if (errno == EINTR) continue;
            if (errno == EAGAIN || errno == EWOULDBLOCK) return Outcome::kNothing;
            return Fail("Recv failure", errno);
        }
        if (got == 0) return TakeEnd();
        if (!got_bytes_) {
            got_bytes_ = true;
            call_->answer.timings.first_byte = call_->Elapsed(now);
        }
        const auto size = static_cast<std::size_t>(got);
        const Outcome outcome = Take(std::string_view(buffer).substr(0, size));
        if (outcome != Outcome::kNothing) return outcome;
        // The socket is empty; bytes that arrive later raise another event.
        if (size < buffer.size() && !ending) return Outcome::kNothing;
    }
    return Outcome::kMore;
}

PlainConnection::Outcome PlainConnection::Take(std::string_view bytes) {
    switch (parser_.Feed(bytes)) {
        case ParseStatus::kNeedMore:
            return Outcome::kNothing;
        case ParseStatus::kComplete:
            reusable_ = parser_.keep_alive() && bytes.empty() && flushed_ && !ending;
            return Outcome::kAnswered;
        case ParseStatus::kFault:
            break;
    }
    return Failed(parser_.fault());
}

PlainConnection::Outcome PlainConnection::TakeEnd() {
    if (!got_bytes_) {
        fault_ = "Empty reply from server";
        return Outcome::kBroken;
    }
    return parser_.End() == ParseStatus::kComplete ? Outcome::kAnswered : Failed(parser_.fault());
}

PlainConnection::Outcome PlainConnection::Fail(const char* what, int error) {
    fault_ = fmt::format("{}: {}", what, std::generic_category().message(error));
    return got_bytes_ ? Outcome::kFault : Outcome::kBroken;
}

PlainConnection::Outcome PlainConnection::Failed(std::string text) {
    fault_ = std::move(text);
    if (call_->intake.too_many_headers()) {
        fault_ = TooManyHeaders(call_->request.max_header_bytes, remote_);
    } else if (fault_.empty()) {
        fault_ = BrokenHead(remote_);
    }
    return Outcome::kFault;
}

}  // namespace ksana::http_client
