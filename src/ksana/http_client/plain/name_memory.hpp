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

// Where a socket is to be connected to.
struct Target {
    IpAddress address;
    int port = 0;
    friend bool operator==(const Target&, const Target&) = default;
};

// "127.0.0.1:80", "[::1]:80".
std::string WithPort(std::string_view address, long port);

// Which address a host had a moment ago, as libcurl has found it. What does not resolve is never
// remembered. One thread.
class NameMemory {
  public:
    // libcurl keeps what it resolves for the same time: both together are a minute.
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
