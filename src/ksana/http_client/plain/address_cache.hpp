#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/time/time.hpp"
#include "ksana/http_client/egress.hpp"

namespace ksana::http_client {

// The address and port that a socket connects to.
struct Target {
    IpAddress address;
    int port = 0;
    friend bool operator==(const Target&, const Target&) = default;
};

// Returns "127.0.0.1:80" or "[::1]:80".
std::string WithPort(std::string_view address, long port);

// A cache of the addresses that libcurl has found for host names. Failed lookups are not cached. A
// full cache drops expired entries, and learns nothing if there are none. Owned by PlainPool;
// client's thread only.
class AddressCache {
  public:
    // Lifetime of an entry. libcurl's own cache uses the same, so a changed name is noticed within
    // a minute.
    static constexpr std::chrono::seconds kKept{30};
    static constexpr std::size_t kMost = 4096;

    void Learn(std::string_view host, const IpAddress& address, SteadyPoint now);
    std::optional<IpAddress> Find(std::string_view host, SteadyPoint now) const;
    void Forget(std::string_view host);

    std::size_t size() const { return known_.size(); }

  private:
    struct Known {
        IpAddress address;
        SteadyPoint until;
    };
    std::map<std::string, Known, std::less<>> known_;
};

}  // namespace ksana::http_client
