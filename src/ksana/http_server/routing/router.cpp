#include "ksana/http_server/routing/router.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "ksana/base/error/check.hpp"
#include "ksana/http_server/wire/http_text.hpp"

namespace ksana::http_server {
namespace {

constexpr std::array<std::string_view, 5> kPermissionNames = {"public", "read", "operate", "write",
                                                              "admin"};

enum class Kind : std::uint8_t { kLiteral, kParameter, kRest };

struct Segment {
    Kind kind;
    std::string text;  // the literal, or the parameter's name
};

Segment ParseSegment(std::string_view text) {
    if (!text.starts_with('{')) {
        KSANA_CHECK(IsToken(text), "a literal of a route is made of token characters");
        return {Kind::kLiteral, std::string(text)};
    }
    KSANA_CHECK(text.ends_with('}'), "a route's parameter has no closing brace");
    std::string_view name = text.substr(1, text.size() - 2);
    const bool rest = name.ends_with("...");
    if (rest) name.remove_suffix(3);
    KSANA_CHECK(IsToken(name), "a route's parameter has no proper name");
    return {rest ? Kind::kRest : Kind::kParameter, std::string(name)};
}

std::vector<Segment> ParsePattern(std::string_view pattern) {
    KSANA_CHECK(pattern.starts_with('/'), "a route's pattern starts with a slash");
    std::vector<Segment> segments;
    pattern.remove_prefix(1);
    while (!pattern.empty()) {
        const std::size_t slash = std::min(pattern.find('/'), pattern.size());
        KSANA_CHECK(slash + 1 != pattern.size(), "a route's pattern ends without a slash");
        segments.push_back(ParseSegment(pattern.substr(0, slash)));
        pattern.remove_prefix(std::min(slash + 1, pattern.size()));
        KSANA_CHECK(segments.back().kind != Kind::kRest || pattern.empty(),
                    "the rest of a path stands last in a route");
    }
    return segments;
}

// Returns the limit of the body that follows from the method; none: that of the server.
std::optional<std::size_t> BodyLimitOf(HttpMethod method) {
    const bool reads =
        method == HttpMethod::kPost || method == HttpMethod::kPut || method == HttpMethod::kPatch;
    return reads ? std::nullopt : std::optional(kIgnoredBody);
}

std::string Join(std::span<const std::string> segments) {
    std::string joined;
    for (const std::string& segment : segments) {
        if (!joined.empty()) joined += '/';
        joined += segment;
    }
    return joined;
}

}  // namespace

std::string_view PermissionName(Permission permission) {
    return kPermissionNames.at(static_cast<std::size_t>(permission));
}

Route::Route(HttpMethod method, std::string pattern, Permission permission, std::string description,
             Where where, Handler handler)
    : method_(method),
      pattern_(std::move(pattern)),
      permission_(permission),
      description_(std::move(description)),
      where_(where),
      handler_(std::in_place_index<0>, std::move(handler)),
      body_limit_(BodyLimitOf(method)) {}

Route::Route(HttpMethod method, std::string pattern, Permission permission, std::string description,
             Where where, AsyncHandler handler)
    : method_(method),
      pattern_(std::move(pattern)),
      permission_(permission),
      description_(std::move(description)),
      where_(where),
      handler_(std::in_place_index<1>, std::move(handler)),
      body_limit_(BodyLimitOf(method)) {}

Route&& Route::WithBodyLimit(std::size_t bytes) && {
    body_limit_ = bytes;
    return std::move(*this);
}

Route&& Route::ForProbes() && {
    for_probes_ = true;
    return std::move(*this);
}

// A segment of the path tree. `ends` holds the routes that end here, by method, each with the names
// of its parameters in order.
struct Router::Node {
    struct End {
        const Route* route = nullptr;
        std::vector<std::string> names;
    };

    std::map<std::string, std::unique_ptr<Node>, std::less<>> literals;
    std::unique_ptr<Node> parameter;
    std::unique_ptr<Node> rest;
    std::array<End, kHttpMethodNames.size()> ends;

    const End& end(HttpMethod method) const { return ends.at(static_cast<std::size_t>(method)); }

    bool HasRoute() const {
        return std::any_of(ends.begin(), ends.end(),
                           [](const End& end) { return end.route != nullptr; });
    }

    Node& Child(const Segment& segment) {
        std::unique_ptr<Node>& child = segment.kind == Kind::kLiteral     ? literals[segment.text]
                                       : segment.kind == Kind::kParameter ? parameter
                                                                          : rest;
        if (!child) child = std::make_unique<Node>();
        return *child;
    }

    // Returns the node where `segments` end, or null. Appends the values of the parameters on the
    // way to `values`.
    const Node* Find(std::span<const std::string> segments,
                     std::vector<std::string>& values) const {
        if (segments.empty()) return HasRoute() ? this : nullptr;
        const auto literal = literals.find(segments.front());
        if (literal != literals.end()) {
            if (const Node* found = literal->second->Find(segments.subspan(1), values)) {
                return found;
            }
        }
        const std::size_t known = values.size();
        if (segments.front().empty()) return nullptr;  // from a trailing slash: not a value
        if (parameter) {
            values.push_back(segments.front());
            if (const Node* found = parameter->Find(segments.subspan(1), values)) return found;
            values.resize(known);
        }
        if (rest && !segments.back().empty()) {
            values.push_back(Join(segments));
            return rest.get();
        }
        return nullptr;
    }

    std::string Allow() const {
        std::string allow;
        for (const HttpMethod method :
             {HttpMethod::kGet, HttpMethod::kHead, HttpMethod::kPost, HttpMethod::kPut,
              HttpMethod::kPatch, HttpMethod::kDelete, HttpMethod::kOptions}) {
            const bool there =
                end(method).route != nullptr || method == HttpMethod::kOptions ||
                (method == HttpMethod::kHead && end(HttpMethod::kGet).route != nullptr);
            if (!there) continue;
            if (!allow.empty()) allow += ", ";
            allow += NameOf(method);
        }
        return allow;
    }
};

Router::Router() : root_(std::make_unique<Node>()) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

Router& Router::Add(Route route) {
    KSANA_CHECK(!route.description().empty(), "a route says what it is for");
    Node* node = root_.get();
    std::vector<std::string> names;
    for (const Segment& segment : ParsePattern(route.pattern())) {
        node = &node->Child(segment);
        if (segment.kind != Kind::kLiteral) names.push_back(segment.text);
    }
    Node::End& end = node->ends.at(static_cast<std::size_t>(route.method()));
    KSANA_CHECK(end.route == nullptr, "two routes for " + route.pattern());
    routes_.push_back(std::make_unique<const Route>(std::move(route)));
    end.route = routes_.back().get();
    end.names = std::move(names);
    return *this;
}

void Router::AddHeaderUnder(std::string path, std::string name, std::string value) {
    KSANA_CHECK(headers_.empty() || header_path_ == path, "header fields of two paths");
    KSANA_CHECK(IsToken(name) && IsFieldValue(value), "a header field of all answers is none");
    header_path_ = std::move(path);
    headers_.emplace_back(std::move(name), std::move(value));
}

const TextPairs& Router::HeadersUnder(std::string_view path) const {
    static const TextPairs kNone;
    if (headers_.empty() || !path.starts_with(header_path_)) return kNone;
    path.remove_prefix(header_path_.size());
    return path.empty() || path.front() == '/' ? headers_ : kNone;
}

Router::Match Router::Find(HttpMethod method, const std::vector<std::string>& segments) const {
    Match match;
    std::vector<std::string> values;
    const Node* const node = root_->Find(segments, values);
    if (node == nullptr) return match;
    const Node::End* end = &node->end(method);
    if (end->route == nullptr && method == HttpMethod::kHead) end = &node->end(HttpMethod::kGet);
    if (end->route == nullptr) {
        match.allow = node->Allow();
        return match;
    }
    match.route = end->route;
    for (std::size_t i = 0; i < values.size(); ++i) {
        match.parameters.emplace_back(end->names.at(i), std::move(values.at(i)));
    }
    return match;
}

Response Router::NoRoute(HttpMethod method, const Match& match, const ProblemPlace& place) {
    if (match.allow.empty()) {
        return ProblemOf(Error(Code::kNotFound, "there is nothing at this path"), place);
    }
    Response response;
    if (method == HttpMethod::kOptions) {
        response = NoContent();
    } else {
        const Fault fault{
            .status = 405,
            .code = "method_not_allowed",
            .detail = fmt::format("this path knows {}, not {}", match.allow, NameOf(method))};
        response = ProblemOf(fault, place);
    }
    response.headers.emplace_back("Allow", match.allow);
    return response;
}

Result<Caller> Router::Check(const Request& request, Permission permission) const {
    if (permission == Permission::kPublic) return Caller();
    if (!authorize_) return Error(Code::kUnauthenticated, "nobody can sign in to this server");
    return authorize_(request, permission);
}

}  // namespace ksana::http_server
