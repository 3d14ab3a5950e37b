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
#include "ksana/http_server/routing/message.hpp"
#include "ksana/http_server/routing/problem.hpp"
#include "ksana/http_server/routing/reply.hpp"

namespace ksana::http_server {

// What a caller must be allowed to do. kPublic asks nobody.
enum class Permission : std::uint8_t { kPublic, kRead, kOperate, kWrite, kAdmin };

std::string_view PermissionName(Permission permission);

// Where a handler runs.
enum class Where : std::uint8_t {
    kPool,    // on a pool of threads: may block, in a store for instance
    kInline,  // on the I/O thread: quick, never blocks; so must be the authorisation hook for it
};

// A lambda that returns a plain Response fits too. An Error becomes problem+json.
using Handler = std::function<Result<Response>(const Request&)>;
// Answers when it likes, through the Reply.
using AsyncHandler = std::function<void(Request, Reply)>;

// One entry of the router. What a reader of the API must know is not optional.
class Route {
  public:
    // `pattern`: "/jobs/{id}/run-now"; a last segment "{rest...}" takes all that follows, one
    // segment at least, joined by slashes. `description`: one line.
    Route(HttpMethod method, std::string pattern, Permission permission, std::string description,
          Where where, Handler handler);
    Route(HttpMethod method, std::string pattern, Permission permission, std::string description,
          Where where, AsyncHandler handler);

    // Instead of the server's limit.
    Route&& WithBodyLimit(std::size_t bytes) &&;

    HttpMethod method() const { return method_; }
    const std::string& pattern() const { return pattern_; }
    Permission permission() const { return permission_; }
    const std::string& description() const { return description_; }
    Where where() const { return where_; }
    const std::optional<std::size_t>& body_limit() const { return body_limit_; }
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
};

// Asked before the handler of every route that is not public, where the handler runs.
// kUnauthenticated: nobody we know; kPermissionDenied: known, but not allowed.
using Authorize = std::function<Result<Caller>(const Request&, Permission)>;

// Which handler answers what. Filled before the server starts and only read from then on, by any
// thread. Two routes with the same method and shape are a programmer error. Literal segments win
// over parameters, and the path alone decides: a path that is known with other methods is a 405.
class Router {
  public:
    Router();
    ~Router();
    Router(Router&&) noexcept;
    Router& operator=(Router&&) noexcept;

    Router& Add(Route route);
    // Without a hook only public routes are open.
    void SetAuthorize(Authorize authorize) { authorize_ = std::move(authorize); }

    // A header field of every answer to a path under this one ("/api/v1"), whoever gives it: also
    // where there is no route or no right.
    void AddHeaderUnder(std::string path, std::string name, std::string value);
    const TextPairs& HeadersUnder(std::string_view path) const;

    // In the order they were added.
    const std::vector<std::unique_ptr<const Route>>& routes() const { return routes_; }

    struct Match {
        const Route* route = nullptr;  // null: `allow` tells why
        TextPairs parameters;
        std::string allow;  // of a known path: "GET, HEAD, OPTIONS"; else empty
    };
    // HEAD finds the route of GET.
    Match Find(HttpMethod method, const std::vector<std::string>& segments) const;

    // The answer to a request for which Find found no route: 204 for OPTIONS, else 405 or 404.
    static Response NoRoute(HttpMethod method, const Match& match, const ProblemPlace& place);

    Result<Caller> Check(const Request& request, Permission permission) const;

  private:
    struct Node;

    std::vector<std::unique_ptr<const Route>> routes_;
    std::unique_ptr<Node> root_;
    Authorize authorize_;
    std::string header_path_;  // one is enough so far
    TextPairs headers_;
};

}  // namespace ksana::http_server
