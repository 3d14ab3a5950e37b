#include "ksana/base/text/url_secrets.hpp"

#include <algorithm>

#include "ksana/base/text/utf8.hpp"

namespace ksana {
namespace {

constexpr std::string_view kHidden = "***";

// Hides the password between "user:" and "@".
std::string HideUserInfo(std::string url) {
    const std::size_t scheme = url.find("://");
    const std::size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
    const std::size_t at = url.rfind('@');
    if (at == std::string::npos || at < begin) return url;
    const std::size_t colon = url.find(':', begin);
    if (colon < at) url.replace(colon + 1, at - colon - 1, kHidden);
    return url;
}

// A percent-encoded name counts as secret, as it may spell "password".
bool IsSecret(std::string_view name) {
    return name.find("password") != std::string_view::npos ||
           name.find('%') != std::string_view::npos;
}

// Hides "?password=…", which libpq accepts too.
std::string HideParameters(std::string_view url) {
    std::size_t at = url.find('?');
    if (at == std::string_view::npos) return std::string(url);
    std::string shown(url.substr(0, at));
    while (at < url.size()) {
        const std::size_t end = std::min(url.find('&', at + 1), url.size());
        const std::string_view part = url.substr(at, end - at);
        const std::size_t equals = part.find('=');
        const bool hide = equals != std::string_view::npos && IsSecret(part.substr(0, equals));
        shown += hide ? part.substr(0, equals + 1) : part;
        if (hide) shown += kHidden;
        at = end;
    }
    return shown;
}

}  // namespace

std::string HideUrlSecrets(std::string_view url) {
    return Printable(HideParameters(HideUserInfo(std::string(url))));
}

}  // namespace ksana
