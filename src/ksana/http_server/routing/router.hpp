#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/http_server/routing/host_rule.hpp"
#include "ksana/http_server/routing/message.hpp"
#include "ksana/http_server/routing/problem.hpp"
#include "ksana/http_server/routing/reply.hpp"

namespace ksana::http_server {

// The permission that a route requires of its caller. kPublic requires none.
enum class Permission : std::uint8_t { kPublic, kRead, kOperate, kWrite, kAdmin };

std::string_view PermissionName(Permission permission);

// Where a handler runs.
enum class Where : std::uint8_t {
    kPool,    // on the pool: may block, for example in a store
    kInline,  // on the I/O thread: the handler must be quick and never block
};

// Returns the response; an Error becomes problem+json. A lambda may return a plain Response.
using Handler = std::function<Result<Response>(const Request&)>;
// Answers through the Reply, now or later.
using AsyncHandler = std::function<void(Request, Reply)>;

// The largest body of a request whose route reads none.
inline constexpr std::size_t kIgnoredBody = 4096;

// One entry of the router. Permission and description are mandatory: the API's description is made
// from them. An invalid pattern or an empty description aborts in Router::Add. The body of a GET,
// HEAD, DELETE or OPTIONS is limited to kIgnoredBody, that of others to
// ServerOptions::max_body_bytes.
class Route {
  public:
    // `pattern`: "/jobs/{id}/run-now". A last segment "{rest...}" matches one or more remaining
    // segments, joined by slashes. `description`: one line.
    Route(HttpMethod method, std::string pattern, Permission permission, std::string description,
          Where where, Handler handler);
    Route(HttpMethod method, std::string pattern, Permission permission, std::string description,
          Where where, AsyncHandler handler);

    // Replaces the limit of the body for this route.
    Route&& WithBodyLimit(std::size_t bytes) &&;

    // Served on the connections that are kept for probes, too: says whether the server is well, at
    // once, and nothing else.
    Route&& ForProbes() &&;

    HttpMethod method() const { return method_; }
    const std::string& pattern() const { return pattern_; }
    Permission permission() const { return permission_; }
    const std::string& description() const { return description_; }
    Where where() const { return where_; }
    const std::optional<std::size_t>& body_limit() const { return body_limit_; }
    bool for_probes() const { return for_probes_; }
    const std::variant<Handler, AsyncHandler>& handler() const { return handler_; }
    bool asynchronous() const { return handler_.index() == 1; }

  private:
    HttpMethod method_;
    std::string pattern_;
    Permission permission_;
    std::string description_;
    Where where_;
    std::variant<Handler, AsyncHandler> handler_;
    std::optional<std::size_t> body_limit_;
    bool for_probes_ = false;
};

// The authorisation hook. Called for every route that is not public when the head of a request has
// arrived, before its body is read: on the I/O threads, several at once, so it must be quick and
// never block. Fails with kUnauthenticated for an unknown caller and with kPermissionDenied for a
// known caller without the permission.
using Authorize = std::function<Result<Caller>(const Request&, Permission)>;

// Maps method and path to a route. Owned by the Server; filled before it starts and only read
// afterwards, by any thread. Two routes with the same method and shape abort. Literal segments win
// over parameters. The path alone selects the node: a known path with an unknown method is a 405.
class Router {
  public:
    Router();
    ~Router();
    Router(Router&&) noexcept;
    Router& operator=(Router&&) noexcept;

    Router& Add(Route route);
    // Without a hook, all routes except public ones fail with kUnauthenticated.
    void SetAuthorize(Authorize authorize) { authorize_ = std::move(authorize); }

    // Requests whose Host the rule does not accept get a 421, except those of public routes.
    void SetHosts(HostRule hosts) { hosts_ = std::move(hosts); }
    const std::optional<HostRule>& hosts() const { return hosts_; }

    // Adds a header field to every answer to a path under `path` ("/api/v1"), including 404, 401
    // and 403. Only one `path` is supported.
    void AddHeaderUnder(std::string path, std::string name, std::string value);
    const TextPairs& HeadersUnder(std::string_view path) const;

    // In the order of Add.
    const std::vector<std::unique_ptr<const Route>>& routes() const { return routes_; }

    struct Match {
        const Route* route = nullptr;  // null: no such path, or no such method for it (`allow`)
        TextPairs parameters;
        // If `route` is null: the methods of a known path, "GET, HEAD, OPTIONS". Empty: unknown.
        std::string allow;
    };
    // Finds the route of a request. HEAD falls back to the route of GET.
    Match Find(HttpMethod method, const std::vector<std::string>& segments) const;

    // Returns the answer to a request without a route: 404 for an unknown path, else 204 for
    // OPTIONS and 405 for other methods.
    static Response NoRoute(HttpMethod method, const Match& match, const ProblemPlace& place);

    // Runs the authorisation hook. Returns an empty Caller for kPublic.
    Result<Caller> Check(const Request& request, Permission permission) const;

  private:
    struct Node;

    std::vector<std::unique_ptr<const Route>> routes_;
    std::unique_ptr<Node> root_;
    Authorize authorize_;
    std::optional<HostRule> hosts_;
    std::string header_path_;  // of all fields in headers_
    TextPairs headers_;
};

}  // namespace ksana::http_server
