#include "ksana/http_server/next_link.hpp"

#include <fmt/core.h>

#include "ksana/base/percent_text.hpp"

namespace ksana::http_server {

std::string NextLink(const Request& request, std::string_view cursor) {
    std::string link = fmt::format("<{}?cursor={}", request.path, PercentEncode(cursor));
    for (const auto& [name, value] : request.query) {
        if (name == "cursor") continue;
        link += fmt::format("&{}={}", PercentEncode(name), PercentEncode(value));
    }
    return link + ">; rel=\"next\"";
}

}  // namespace ksana::http_server
