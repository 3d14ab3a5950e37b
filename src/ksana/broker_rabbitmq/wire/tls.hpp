#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/broker/broker_url.hpp"

// Private to the module, because it exposes OpenSSL.

namespace ksana::broker_rabbitmq {

// Whom to trust, and who we are. Immutable, hence thread-safe.
class TlsContext {
  public:
    // Returns kInvalidArgument, with the name of the option, if a file of the URL cannot be read.
    static Result<std::shared_ptr<const TlsContext>> Make(const broker::BrokerUrl& url);

    SSL_CTX* get() const { return context_.get(); }

  private:
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{nullptr, SSL_CTX_free};
};

// TLS between buffers: what goes over the network is for the owner to carry. For one thread at a
// time.
class TlsStream {
  public:
    // The certificate must be trusted and valid for `server`, a name or an address.
    static Result<TlsStream> Make(const TlsContext& context, const std::string& server);

    // Goes on with the handshake as far as it can. Returns whether it is complete.
    Result<bool> ShakeHands();
    // Returns how much was encrypted.
    Result<std::size_t> Encrypt(std::string_view plain);
    // Appends what can be decrypted.
    Result<void> Decrypt(std::string& plain);

    void FromNetwork(std::string_view bytes);
    // Appends what has to be sent.
    void ToNetwork(std::string& bytes);

  private:
    explicit TlsStream(SSL* ssl) : ssl_(ssl, SSL_free) {}

    // Whether the call that returned `outcome` only lacks bytes from the network.
    Result<void> OnlyWaits(int outcome) const;

    std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
};

}  // namespace ksana::broker_rabbitmq
