#include "ksana/http_client/call.hpp"

#include <algorithm>

#include "ksana/base/text/names.hpp"

namespace ksana::http_client {

std::string_view NameOf(CallError error) {
    static constexpr std::array<std::string_view, kCallErrorCount> kNames = {
        "none",      "dns",
        "connect",   "tls",
        "timeout",   "egress_refused",
        "protocol",  "too_many_redirects",
        "cancelled", "other"};
    return kNames[static_cast<std::size_t>(error)];
}

const std::string* FindHeader(const std::vector<Header>& headers, std::string_view name) {
    const auto found = std::ranges::find_if(headers, [name](const Header& header) {
        return std::ranges::equal(header.name, name, {}, Lower, Lower);
    });
    return found == headers.end() ? nullptr : &found->value;
}

}  // namespace ksana::http_client
