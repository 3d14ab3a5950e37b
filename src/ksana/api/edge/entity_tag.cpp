#include "ksana/api/edge/entity_tag.hpp"

#include <fmt/core.h>

#include "ksana/api/edge/cursors.hpp"

namespace ksana::api {
namespace {

using http_server::Request;
using http_server::Response;

std::string HashOf(std::string_view body) { return Sha256(body).substr(0, 16); }

std::string VersionOf(const model::Job& job) {
    return fmt::format("{}.{:x}", job.state.version,
                       job.state.created_at.time_since_epoch().count());
}

// Calls `is_match` with each tag of a list, without its quotes, until one matches. Weak tags are
// skipped unless `weak` is set.
template <class F>
bool AnyTag(std::string_view list, bool weak, const F& is_match) {
    while (!list.empty()) {
        const std::size_t open = list.find('"');
        if (open == std::string_view::npos) return false;
        const std::size_t close = list.find('"', open + 1);
        if (close == std::string_view::npos) return false;
        const bool is_weak = open >= 2 && list.substr(open - 2, 2) == "W/";
        if ((weak || !is_weak) && is_match(list.substr(open + 1, close - open - 1))) return true;
        list.remove_prefix(close + 1);
    }
    return false;
}

std::string_view Trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Compares If-Match with the bare version and with `is_match`.
template <class F>
MatchResult Compare(const Request& request, std::int64_t version, const F& is_match) {
    const auto wish = request.headers.Find("If-Match");
    if (!wish) return MatchResult::kNone;
    if (Trimmed(*wish) == "*") return MatchResult::kMatches;
    const std::string bare = std::to_string(version);
    const bool matches =
        AnyTag(*wish, false, [&](std::string_view tag) { return tag == bare || is_match(tag); });
    return matches ? MatchResult::kMatches : MatchResult::kDiffers;
}

}  // namespace

std::string JobTag(const model::Job& job, std::string_view body) {
    return fmt::format("\"{}-{}\"", VersionOf(job), HashOf(body));
}

std::string BodyTag(std::string_view body) { return fmt::format("\"{}\"", HashOf(body)); }

std::string DocumentTag(std::int64_t version, std::string_view body) {
    return fmt::format("\"{}-{}\"", version, HashOf(body));
}

MatchResult IfMatch(const Request& request, const model::Job& job) {
    const std::string version = VersionOf(job);
    return Compare(request, job.state.version,
                   [&](std::string_view tag) { return tag.substr(0, tag.find('-')) == version; });
}

MatchResult IfMatch(const Request& request, std::int64_t version, std::string_view tag) {
    return Compare(request, version,
                   [&](std::string_view one) { return one == tag.substr(1, tag.size() - 2); });
}

MatchResult IfMatchVersion(const Request& request, std::int64_t version) {
    const std::string wanted = std::to_string(version);
    return Compare(request, version,
                   [&](std::string_view tag) { return tag.substr(0, tag.find('-')) == wanted; });
}

Response WithTag(const Request& request, Response response, std::string tag) {
    const auto wish = request.headers.Find("If-None-Match");
    const std::string_view plain = std::string_view(tag).substr(1, tag.size() - 2);
    const bool known = wish && (Trimmed(*wish) == "*" ||
                                AnyTag(*wish, true, [&](auto one) { return one == plain; }));
    if (known) response = Response{.status = 304, .content_type = {}, .body = {}, .headers = {}};
    response.headers.emplace_back("ETag", std::move(tag));
    return response;
}

}  // namespace ksana::api
