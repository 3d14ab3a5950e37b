#pragma once

#include <cstdint>
#include <memory>

#include "ksana/base/error/result.hpp"
#include "ksana/http_server/wire/connection.hpp"

namespace ksana::http_server {

// The listening socket and the I/O threads of a running server. Opened once; ended by Close or the
// destructor. Owned by the Server and called under its control, by one thread at a time.
class Network {
  public:
    // The objects that `context` refers to must outlive the network.
    explicit Network(const ServeContext& context);
    ~Network();
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    // Starts listening. Fails with kInvalidArgument for an invalid address or certificate and with
    // kUnavailable for an address that cannot be bound; nothing is left running then.
    Result<void> Open();
    // Stops accepting, drains, and blocks until all connections and threads have ended.
    void Close();

    std::uint16_t port() const;

  private:
    struct Parts;

    const std::unique_ptr<Parts> parts_;
};

}  // namespace ksana::http_server
