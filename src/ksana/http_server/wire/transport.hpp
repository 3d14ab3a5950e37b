#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ksana::http_server {

// Events of a transport, implemented by Connection. Called on the I/O thread that owns both, and
// never from within a call to the transport.
class TransportEvents {
  public:
    virtual ~TransportEvents() = default;

    virtual void OnOpened(bool ok) = 0;
    virtual void OnRead(std::size_t bytes) = 0;  // 0: end of input
    virtual void OnReadFailed() = 0;
    virtual void OnWritten(bool ok) = 0;
};

// A byte stream to one client, plain or TLS, which hides sockets from Connection. At most one read
// and one write may be pending; each keeps `owner` alive until its event. After Close, pending
// operations end with failure events. Owned by the Connection; I/O thread only.
class Transport {
  public:
    using Owner = std::shared_ptr<TransportEvents>;

    virtual ~Transport() = default;

    virtual void Open(Owner owner) = 0;  // does the TLS handshake, if any
    virtual void Read(Owner owner, std::span<char> into) = 0;
    // Returns true if all of `text` is written; no event follows. Otherwise OnWritten follows, and
    // `text` must stay valid until then.
    virtual bool Write(Owner owner, std::string_view text) = 0;
    // Tells the client that no more bytes follow. Reading goes on.
    virtual void ShutdownSend(Owner owner) = 0;
    virtual void Close() = 0;

    virtual bool secure() const = 0;
    virtual const std::string& peer() const = 0;
};

}  // namespace ksana::http_server
