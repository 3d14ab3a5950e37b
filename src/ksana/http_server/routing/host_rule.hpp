#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ksana::http_server {

// Which values of the header Host name this server. A web page can make a browser send requests to
// any address under a name of its own, by changing what the name resolves to (DNS rebinding), and
// then counts as the same origin. Such requests have the name of the page in Host. Immutable, hence
// thread-safe.
class HostRule {
  public:
    // Always accepts "localhost" and loopback addresses. `names`: further names and addresses,
    // without port. `any_address`: accepts all IP addresses, because the server listens on every
    // address of its machine; only a name can be rebound.
    explicit HostRule(const std::vector<std::string>& names, bool any_address = false);

    // Returns whether `host` ("localhost:7100", "[::1]") is accepted. Ports are ignored: they may
    // be forwarded, and rebinding needs a name.
    bool Accepts(std::string_view host) const;

  private:
    std::vector<std::string> names_;  // in lower case, addresses in one form
    bool any_address_;
};

}  // namespace ksana::http_server
