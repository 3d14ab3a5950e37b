#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ksana::http_server {

// What a transport tells its connection; always on the I/O thread that owns both, and never from
// inside a call to the transport.
class TransportEvents {
  public:
    virtual ~TransportEvents() = default;

    virtual void OnOpened(bool ok) = 0;
    virtual void OnRead(std::size_t bytes) = 0;  // 0: the client sends no more
    virtual void OnReadFailed() = 0;
    virtual void OnWritten(bool ok) = 0;
};

// A byte stream to one client, plain or TLS: all that a connection knows of sockets. One read and
// one write may be under way at a time; each keeps `owner` alive until its event. After Close there
// are no events but failures.
class Transport {
  public:
    using Owner = std::shared_ptr<TransportEvents>;

    virtual ~Transport() = default;

    virtual void Open(Owner owner) = 0;  // the TLS handshake
    virtual void Read(Owner owner, std::span<char> into) = 0;
    // True: all is written and no event follows. Else `text` must stay until OnWritten.
    virtual bool Write(Owner owner, std::string_view text) = 0;
    // Tells the client that nothing more will come. Reading goes on.
    virtual void ShutdownSend(Owner owner) = 0;
    virtual void Close() = 0;

    virtual bool secure() const = 0;
    virtual const std::string& peer() const = 0;
};

}  // namespace ksana::http_server
