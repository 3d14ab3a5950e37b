#pragma once

#include <cstdint>
#include <memory>

#include "ksana/base/error/result.hpp"
#include "ksana/http_server/wire/connection.hpp"

namespace ksana::http_server {

// The listening socket and the I/O threads of a server that runs. Made by Open, ended by Close or
// with the object; not opened twice.
class Network {
  public:
    // `context` outlives it.
    explicit Network(const ServeContext& context);
    ~Network();
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    // On an error nothing is left running. Codes: kInvalidArgument for an address or certificate
    // that is none, kUnavailable for an address that cannot be had.
    Result<void> Open();
    // Stops accepting, drains, and returns when all connections and threads have ended.
    void Close();

    std::uint16_t port() const;

  private:
    struct Parts;

    const std::unique_ptr<Parts> parts_;
};

}  // namespace ksana::http_server
