#include "ksana/http_client/call_check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/http_client/plain/char_set.hpp"

namespace ksana::http_client {
namespace {

// `part` is in lower case.
bool Holds(std::string_view text, std::string_view part) {
    return !std::ranges::search(text, part, {}, Lower).empty();
}

constexpr CharSet kOfTokens =
    CharSet().With('0', '9').With('a', 'z').With('A', 'Z').With("!#$%&'*+-.^_`|~");
constexpr CharSet kOfValues = CharSet().With("\t").With(0x20, 0x7E).With(0x80, 0xFF);

bool IsOfTheConnection(std::string_view name) {
    constexpr std::array<std::string_view, 6> kNames = {
        "host", "content-length", "transfer-encoding", "connection", "upgrade", "expect"};
    return std::ranges::any_of(kNames, [name](std::string_view one) {
        return name.size() == one.size() && Holds(name, one);
    });
}

}  // namespace

std::optional<std::string> FaultOf(const CallRequest& request) {
    for (const Header& header : request.headers) {
        if (header.name.empty() || !kOfTokens.HasAll(header.name)) {
            return fmt::format("\"{}\" is not a header name", Excerpt(Printable(header.name), 80));
        }
        if (IsOfTheConnection(header.name)) {
            return fmt::format("the header {} belongs to the connection", header.name);
        }
        if (!kOfValues.HasAll(header.value)) {
            return fmt::format("the header {} holds a control character", header.name);
        }
    }
    if (request.url.find('\0') != std::string::npos) return "the URL holds a NUL";
    if (HasCredentials(request.url)) return "the URL holds credentials";
    return std::nullopt;
}

bool HasCredentials(std::string_view url) {
    const std::size_t scheme = url.find("//");
    if (scheme == std::string_view::npos) return false;
    url.remove_prefix(scheme + 2);
    return url.substr(0, url.find_first_of("/?#")).find('@') != std::string_view::npos;
}

void DropCredentials(std::vector<Header>& headers) {
    std::erase_if(headers, [](const Header& header) {
        constexpr std::array<std::string_view, 7> kParts = {
            "auth", "cookie", "token", "key", "secret", "signature", "credential"};
        return std::ranges::any_of(
            kParts, [&header](std::string_view part) { return Holds(header.name, part); });
    });
}

}  // namespace ksana::http_client
