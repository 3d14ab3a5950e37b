#include "ksana/http_client/failure_text.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <system_error>

#include "ksana/http_client/plain/address_cache.hpp"

namespace ksana::http_client {

std::string TooManyHeaders(std::size_t most, std::string_view where) {
    return fmt::format("more than {} bytes of headers from {}", most, where);
}

std::string BrokenHead(std::string_view where) {
    return fmt::format("the answer from {} ended within its head", where);
}

std::string NoConnection(int system_error, std::string_view where) {
    if (system_error == ECONNREFUSED) return fmt::format("connection refused by {}", where);
    return fmt::format("no connection to {}: {}", where,
                       std::generic_category().message(system_error));
}

std::string NoTls(std::string_view fault, std::string_view where) {
    return fmt::format("no TLS connection to {}: {}", where, fault);
}

std::string TimedOut(const CallAnswer& answer) {
    if (answer.timings.connect == Duration::zero()) {
        return fmt::format("no connection to {}", answer.remote);
    }
    return answer.status == 0 ? fmt::format("no answer from {}", answer.remote)
                              : fmt::format("the answer from {} did not end", answer.remote);
}

std::optional<std::string> RefusalText(const IpAddress& address, int port,
                                       const EgressRules& rules) {
    const auto refusal = RefusalOf(address, rules);
    if (!refusal) return std::nullopt;
    return fmt::format("{} is {}: not an allowed target", WithPort(address.ToString(), port),
                       *refusal);
}

}  // namespace ksana::http_client
