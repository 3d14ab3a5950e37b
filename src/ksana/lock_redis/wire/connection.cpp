#include "ksana/lock_redis/wire/connection.hpp"

#include <fmt/format.h>

#include "ksana/base/text/number_text.hpp"
#include "ksana/lock_redis/wire/hiredis.hpp"
#include "ksana/lock_redis/wire/tls.hpp"

namespace ksana::lock_redis {
namespace {

void FreeReader(redisReader* reader) { Hiredis().redisReaderFree(reader); }

Reply ToReply(const redisReply& from) {
    Reply reply;
    switch (from.type) {
        case REDIS_REPLY_INTEGER:
            reply.kind = Reply::Kind::kInteger;
            reply.integer = from.integer;
            break;
        case REDIS_REPLY_STRING:
        case REDIS_REPLY_STATUS:
        case REDIS_REPLY_ERROR:
            reply.kind = from.type == REDIS_REPLY_ERROR ? Reply::Kind::kError : Reply::Kind::kText;
            reply.text.assign(from.str, from.len);
            break;
        case REDIS_REPLY_ARRAY:
            reply.kind = Reply::Kind::kList;
            reply.items.reserve(from.elements);
            for (std::size_t i = 0; i < from.elements; ++i) {
                reply.items.push_back(ToReply(*from.element[i]));
            }
            break;
        default:
            break;
    }
    return reply;
}

}  // namespace

void AppendCount(std::string& out, std::size_t words) {
    out += '*';
    AppendNumber(out, words);
    out += "\r\n";
}

void AppendWord(std::string& out, std::string_view word) {
    out += '$';
    AppendNumber(out, word.size());
    out += "\r\n";
    out += word;
    out += "\r\n";
}

Error ServerError(const Reply& reply) {
    // A script's error has the name and the line of the script around the error of the command:
    // behind it since Redis 7, before it until then.
    std::string_view text = reply.text;
    text = text.substr(0, text.find(" script: "));
    if (const std::size_t at = text.find("@user_script:"); at != std::string_view::npos) {
        if (const std::size_t inner = text.find(": ", at); inner != std::string_view::npos) {
            text.remove_prefix(inner + 2);
        }
    }
    // An unknown command (renamed, or in a proxy) is repeated with its arguments: passwords,
    // tokens.
    text = text.substr(0, text.find(", with args beginning with"));
    if (text.find("WRONGTYPE") != std::string_view::npos) {
        return {Code::kConflict, "the key of the lock holds something that is not a lock"};
    }
    if (text.find("unauthenticated") != std::string_view::npos) {
        // What Redis says to a long command instead of NOAUTH: "Protocol error: unauthenticated …".
        return {Code::kUnavailable, "NOAUTH the server wants a password"};
    }
    return {Code::kUnavailable, std::string(text)};
}

Connection::Connection(Socket socket)
    : socket_(std::move(socket)), reader_(Hiredis().redisReaderCreate(), &FreeReader) {}

Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::Open(const RedisServer& server,
                                                     const TlsContext* tls,
                                                     const Deadline& deadline) {
    KSANA_TRY(Socket socket, Socket::Connect(server.host, server.port, deadline));
    struct Made : Connection {
        explicit Made(Socket from) : Connection(std::move(from)) {}
    };
    std::unique_ptr<Connection> made = std::make_unique<Made>(std::move(socket));
    if (made->reader_ == nullptr) return Error(Code::kInternal, "hiredis has no memory");
    if (tls != nullptr) {
        KSANA_TRY(TlsStream stream, TlsStream::Open(*tls, server.host, made->socket_, deadline));
        made->tls_ = std::make_unique<TlsStream>(std::move(stream));
    }
    KSANA_TRY_VOID(made->Greet(server, deadline));
    return made;
}

Result<void> Connection::Greet(const RedisServer& server, const Deadline& deadline) {
    const auto ask = [&](const std::vector<std::string>& words) -> Result<void> {
        KSANA_TRY_VOID(Send(words, deadline));
        KSANA_TRY(const Reply reply, Receive(deadline));
        if (reply.kind == Reply::Kind::kError) return ServerError(reply);
        return {};
    };
    if (!server.password.empty()) {
        std::vector<std::string> words = {"AUTH"};
        if (!server.user.empty()) words.push_back(server.user);
        words.push_back(server.password);
        KSANA_TRY_VOID(ask(words));
    }
    if (server.database != 0) KSANA_TRY_VOID(ask({"SELECT", std::to_string(server.database)}));
    return {};
}

Result<void> Connection::Send(std::span<const std::string> words, const Deadline& deadline) {
    std::string command;
    AppendCount(command, words.size());
    for (const std::string& word : words) AppendWord(command, word);
    return SendEncoded(command, deadline);
}

Result<void> Connection::SendEncoded(std::string_view command, const Deadline& deadline) {
    return tls_ ? tls_->Send(socket_, command, deadline) : socket_.Send(command, deadline);
}

Result<Reply> Connection::Receive(const Deadline& deadline) {
    for (;;) {
        void* made = nullptr;
        if (Hiredis().redisReaderGetReply(reader_.get(), &made) != REDIS_OK) {
            return Error(Code::kUnavailable,
                         fmt::format("the answer is not Redis's protocol: {}", reader_->errstr));
        }
        if (made != nullptr) {
            const std::unique_ptr<void, decltype(&freeReplyObject)> reply(
                made, Hiredis().freeReplyObject);
            return ToReply(*static_cast<const redisReply*>(made));
        }
        arrived_.clear();
        KSANA_TRY_VOID(tls_ ? tls_->Receive(socket_, arrived_, deadline)
                            : socket_.Receive(arrived_, deadline));
        if (Hiredis().redisReaderFeed(reader_.get(), arrived_.data(), arrived_.size()) !=
            REDIS_OK) {
            return Error(Code::kInternal, "hiredis has no memory");
        }
    }
}

}  // namespace ksana::lock_redis
