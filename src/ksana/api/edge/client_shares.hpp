#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "ksana/base/process/mutex.hpp"
#include "ksana/http_server/routing/message.hpp"

namespace ksana::api {

// Returns who sends a request, as far as limits for one client go: the caller at its address. An
// address is one IPv4 address or one /64 of IPv6, as for connections.
std::string ClientOf(const http_server::Request& request);

// Limits how many of something one client may hold at a time, so that a single client cannot take
// all that the server has. Thread-safe.
class ClientShares {
  public:
    explicit ClientShares(std::size_t most) : most_(most) {}

    // Something that a client holds; counted until it is destroyed, on any thread. May outlive the
    // ClientShares.
    class Share;
    // Returns null if the client holds `most` already.
    std::unique_ptr<Share> Enter(const std::string& client);

    std::size_t most() const { return most_; }

  private:
    struct Counts {
        Mutex mutex;
        std::unordered_map<std::string, std::size_t> held KSANA_GUARDED_BY(mutex);
    };

    const std::size_t most_;
    const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

class ClientShares::Share {
  public:
    Share(std::shared_ptr<Counts> counts, std::string client)
        : counts_(std::move(counts)), client_(std::move(client)) {}
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share();

  private:
    const std::shared_ptr<Counts> counts_;
    const std::string client_;
};

}  // namespace ksana::api
