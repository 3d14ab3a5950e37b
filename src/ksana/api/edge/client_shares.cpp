#include "ksana/api/edge/client_shares.hpp"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <array>
#include <string_view>
#include <utility>

namespace ksana::api {

std::string ClientOf(const http_server::Request& request) {
    constexpr std::size_t kNetworkBytes = 8;
    std::array<char, sizeof(in6_addr)> bytes{};
    std::string_view address = request.peer;
    if (::inet_pton(AF_INET6, request.peer.c_str(), bytes.data()) == 1) {
        address = std::string_view(bytes.data(), kNetworkBytes);
    }
    return fmt::format("{}@{}", request.caller.name, address);
}

std::unique_ptr<ClientShares::Share> ClientShares::Enter(const std::string& client) {
    {
        const MutexLock lock(counts_->mutex);
        const auto found = counts_->held.find(client);
        const std::size_t held = found == counts_->held.end() ? 0 : found->second;
        if (held >= most_) return nullptr;
        counts_->held[client] = held + 1;
    }
    return std::make_unique<Share>(counts_, client);
}

ClientShares::Share::~Share() {
    const MutexLock lock(counts_->mutex);
    const auto found = counts_->held.find(client_);
    if (--found->second == 0) counts_->held.erase(found);
}

}  // namespace ksana::api
