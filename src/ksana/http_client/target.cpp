#include "ksana/http_client/target.hpp"

namespace ksana::http_client {

std::string WithPort(std::string_view address, long port) {
    const bool is_v4 = address.find(':') == std::string_view::npos;
    std::string text(is_v4 ? "" : "[");
    text += address;
    text += is_v4 ? ":" : "]:";
    text += std::to_string(port);
    return text;
}

}  // namespace ksana::http_client
