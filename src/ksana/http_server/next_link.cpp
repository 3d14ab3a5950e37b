#include "ksana/http_server/next_link.hpp"

#include <fmt/core.h>

namespace ksana::http_server {

// Letters and digits have no locale here.
std::string EncodeComponent(std::string_view text) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    std::string encoded;
    for (const char c : text) {
        if (kPlain.find(c) != std::string_view::npos) {
            encoded += c;
        } else {
            encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return encoded;
}

std::string NextLink(const Request& request, std::string_view cursor) {
    std::string link = fmt::format("<{}?cursor={}", request.path, EncodeComponent(cursor));
    for (const auto& [name, value] : request.query) {
        if (name == "cursor") continue;
        link += fmt::format("&{}={}", EncodeComponent(name), EncodeComponent(value));
    }
    return link + ">; rel=\"next\"";
}

}  // namespace ksana::http_server
