#include "ksana/http_server/listen_address.hpp"

#include <fmt/core.h>

#include <charconv>

#include "ksana/base/text/utf8.hpp"

namespace ksana::http_server {

Result<ListenAddress> ParseListenAddress(std::string_view text) {
    const Error bad(Code::kInvalidArgument,
                    fmt::format("\"{}\" is no ADDRESS:PORT, as \"127.0.0.1:7200\"",
                                Excerpt(Printable(text), 200)));
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return bad;
    ListenAddress read{.address = std::string(text.substr(0, colon))};
    if (read.address.starts_with('[') && read.address.ends_with(']')) {
        read.address = read.address.substr(1, read.address.size() - 2);
    }
    const char* const end = text.data() + text.size();
    const auto number = std::from_chars(text.data() + colon + 1, end, read.port);
    if (number.ec != std::errc() || number.ptr != end) return bad;
    return read;
}

}  // namespace ksana::http_server
