#include "ksana/http_client/redirect.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "ksana/http_client/call_check.hpp"
#include "ksana/libcurl/libcurl.hpp"

namespace ksana::http_client {
namespace {

struct FreeUrl {
    void operator()(CURLU* url) const { libcurl::Api().curl_url_cleanup(url); }
};
struct FreeText {
    void operator()(char* text) const { libcurl::Api().curl_free(text); }
};

std::optional<std::string> OriginOf(const std::string& text) {
    if (!libcurl::Load()) return std::nullopt;
    const std::unique_ptr<CURLU, FreeUrl> url(libcurl::Api().curl_url());
    if (!url ||
        libcurl::Api().curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
        return std::nullopt;
    }
    std::string origin;
    for (const CURLUPart part : {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT}) {
        char* value = nullptr;
        if (libcurl::Api().curl_url_get(url.get(), part, &value, CURLU_DEFAULT_PORT) != CURLUE_OK) {
            return std::nullopt;
        }
        const std::unique_ptr<char, FreeText> owned(value);
        origin += value;
        origin += ' ';
    }
    std::ranges::transform(origin, origin.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return origin;
}

}  // namespace

bool IsRedirect(long status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool SameOrigin(const std::string& left, const std::string& right) {
    const auto origin = OriginOf(left);
    return origin && origin == OriginOf(right);
}

void Follow(const std::string& location, long status, CallRequest& request) {
    if (!SameOrigin(request.url, location)) DropCredentials(request.headers);
    request.url = location;
    const bool to_get =
        status == 303 ? request.method != HttpMethod::kHead
                      : (status == 301 || status == 302) && request.method == HttpMethod::kPost;
    if (!to_get) return;
    request.method = HttpMethod::kGet;
    request.body.clear();
    std::erase_if(request.headers, [](const Header& header) {
        const std::vector<Header> one = {header};
        return FindHeader(one, "content-type") != nullptr;
    });
}

}  // namespace ksana::http_client
