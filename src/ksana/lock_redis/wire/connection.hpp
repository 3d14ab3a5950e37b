#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ksana/lock_redis/redis_locks.hpp"
#include "ksana/lock_redis/wire/socket.hpp"

struct redisReader;

namespace ksana::lock_redis {

class TlsContext;
class TlsStream;

// Loads hiredis, once per process. Thread-safe. A failure is permanent until the process ends.
Result<void> LoadHiredis();

// An answer of the server. An error of the server is an answer too.
struct Reply {
    enum class Kind : std::uint8_t { kNil, kInteger, kText, kList, kError };

    Kind kind = Kind::kNil;
    std::int64_t integer = 0;
    std::string text;  // also of an error
    std::vector<Reply> items;
};

// Returns the error of a server as the caller of a lock sees it: kConflict for a key of another
// type, else kUnavailable. What could have secrets is left out.
Error ServerError(const Reply& reply);

// Appends the beginning of a command of so many words, and a word, in Redis's protocol.
void AppendCount(std::string& out, std::size_t words);
void AppendWord(std::string& out, std::string_view word);

// A connection with its user and its database chosen. For one thread at a time. After an error it
// must be closed: what arrives next could belong to an earlier command.
class Connection {
  public:
    // `tls` is null for a connection without TLS. hiredis must be loaded.
    static Result<std::unique_ptr<Connection>> Open(const RedisServer& server,
                                                    const TlsContext* tls,
                                                    const Deadline& deadline);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    Result<void> Send(std::span<const std::string> words, const Deadline& deadline);
    Result<void> SendEncoded(std::string_view command, const Deadline& deadline);
    Result<Reply> Receive(const Deadline& deadline);

    // The other side has closed the connection: the command may not have been carried out.
    bool cut() const { return socket_.cut(); }

  private:
    explicit Connection(Socket socket);

    Result<void> Greet(const RedisServer& server, const Deadline& deadline);

    Socket socket_;
    std::unique_ptr<TlsStream> tls_;
    std::unique_ptr<redisReader, void (*)(redisReader*)> reader_;
    std::string arrived_;  // kept between calls for its memory
};

}  // namespace ksana::lock_redis
