#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

#include "ksana/lock_redis/wire/socket.hpp"

// Private to the module, because it exposes OpenSSL.

namespace ksana::lock_redis {

// Whom to trust; shared by the connections of one server. Immutable, hence thread-safe.
class TlsContext {
  public:
    // `ca_file` empty: the authorities of the system. Returns kInvalidArgument if it cannot be
    // read.
    static Result<std::shared_ptr<const TlsContext>> Make(const std::string& ca_file);

    SSL_CTX* get() const { return context_.get(); }

  private:
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{nullptr, SSL_CTX_free};
};

// TLS over a Socket, with buffers between the two, so that the deadlines and the absence of SIGPIPE
// are those of the Socket. For one thread at a time.
class TlsStream {
  public:
    // Shakes hands. The certificate must be trusted and valid for `host`, a name or an address.
    static Result<TlsStream> Open(const TlsContext& context, const std::string& host,
                                  Socket& socket, const Deadline& deadline);

    Result<void> Send(Socket& socket, std::string_view bytes, const Deadline& deadline);

    // Appends what has arrived, at least one byte.
    Result<void> Receive(Socket& socket, std::string& bytes, const Deadline& deadline);

  private:
    explicit TlsStream(SSL* ssl) : ssl_(ssl, SSL_free) {}

    // Carries bytes between OpenSSL and the socket after a call that returned `outcome`. Returns an
    // error if the call cannot be repeated.
    Result<void> Carry(Socket& socket, int outcome, const Deadline& deadline);
    Result<void> Flush(Socket& socket, const Deadline& deadline);
    Error Describe() const;

    std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
};

}  // namespace ksana::lock_redis
