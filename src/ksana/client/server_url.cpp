#include "ksana/client/server_url.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/text/utf8.hpp"
#include "ksana/http_client/call_check.hpp"

namespace ksana::client {

http_client::EgressRules AnyAddress() {
    http_client::EgressRules rules;
    for (const std::string_view all : {"0.0.0.0/0", "::/0"}) {
        rules.allow.push_back(http_client::ParseCidr(all).value());
    }
    return rules;
}

Result<std::string> CheckServerUrl(std::string server) {
    while (server.ends_with('/')) server.pop_back();
    const std::size_t scheme = server.find("://");
    const std::string_view rest =
        scheme == std::string::npos ? "" : std::string_view(server).substr(scheme + 3);
    const bool known = server.starts_with("http://") || server.starts_with("https://");
    const bool plain = std::ranges::all_of(
        server, [](char c) { return c > ' ' && c < '\x7f' && c != '?' && c != '#'; });
    if (!known || !plain || rest.empty() || rest[0] == '/') {
        return Error(Code::kInvalidArgument,
                     fmt::format("\"{}\" is not the URL of a server, like http://127.0.0.1:7100",
                                 Excerpt(Printable(server), 200)));
    }
    if (http_client::HasCredentials(server)) {
        return Error(Code::kInvalidArgument,
                     "the URL of the server holds credentials: a token belongs into a file");
    }
    return server;
}

}  // namespace ksana::client
