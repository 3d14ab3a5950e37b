#include "ksana/http_client/plain/address_cache.hpp"

namespace ksana::http_client {

std::string WithPort(std::string_view address, long port) {
    const bool is_v4 = address.find(':') == std::string_view::npos;
    std::string text(is_v4 ? "" : "[");
    text += address;
    text += is_v4 ? ":" : "]:";
    text += std::to_string(port);
    return text;
}

void AddressCache::Learn(std::string_view host, const IpAddress& address, SteadyPoint now) {
    const auto found = known_.find(host);
    if (found != known_.end()) {
        found->second = {address, now + kKept};
        return;
    }
    if (known_.size() >= kMost) {
        std::erase_if(known_, [now](const auto& entry) { return entry.second.until <= now; });
    }
    if (known_.size() < kMost) known_.emplace(host, Known{address, now + kKept});
}

std::optional<IpAddress> AddressCache::Find(std::string_view host, SteadyPoint now) const {
    const auto found = known_.find(host);
    if (found == known_.end() || found->second.until <= now) return std::nullopt;
    return found->second.address;
}

void AddressCache::Forget(std::string_view host) {
    const auto found = known_.find(host);
    if (found != known_.end()) known_.erase(found);
}

}  // namespace ksana::http_client
