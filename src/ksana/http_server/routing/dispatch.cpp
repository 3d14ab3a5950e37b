#include "ksana/http_server/routing/dispatch.hpp"

#include <fmt/core.h>

#include <exception>
#include <new>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::http_server {
namespace {

// Logs the exception. Its text goes to the log only, as it may reveal more than a client should
// know.
Error Thrown(const Route& route, std::string_view request_id, std::string_view what) {
    Log(LogLevel::kError, "a handler threw",
        {{"route", route.pattern()}, {"request_id", request_id}, {"error", what}});
    return {Code::kInternal, "the handler failed; the log tells more under the request's id"};
}

// Runs `body` and turns anything it throws into an Error.
template <class Body>
Result<void> Guarded(const Route& route, const std::string& request_id, Body body) {
    try {
        return body();
    } catch (const std::bad_alloc&) {
        (void)Thrown(route, request_id, "out of memory");
        return Error(Code::kUnavailable, "the server is out of memory");
    } catch (const std::exception& error) {
        return Thrown(route, request_id, error.what());
    } catch (...) {
        return Thrown(route, request_id, "something that is no std::exception");
    }
}

void RunAsync(Work work) {
    const std::string request_id = work.request.request_id;
    // A handler that throws has dropped its reply while unwinding (which answers 500), or has
    // passed it on to be answered later.
    (void)Guarded(*work.route, request_id, [&]() -> Result<void> {
        std::get<AsyncHandler>(work.route->handler())(std::move(work.request),
                                                      std::move(work.reply));
        return {};
    });
}

Response Misdirected(const Request& request, std::string_view host) {
    return ProblemOf(
        Fault{.status = 421,
              .code = "misdirected_request",
              .detail = fmt::format("this server is not \"{}\" (the Host of the request): use its "
                                    "address, or add the name to the setting allowed_hosts",
                                    Excerpt(Printable(host), 200))},
        {.instance = request.path, .request_id = request.request_id});
}

}  // namespace

std::optional<Response> Refusal(const Router& router, const Route& route, Request& request) {
    if (route.permission() == Permission::kPublic) return std::nullopt;
    const std::string_view host = request.headers.Find("Host").value_or("");
    if (router.hosts() && !router.hosts()->Accepts(host)) return Misdirected(request, host);
    const auto outcome = Guarded(route, request.request_id, [&]() -> Result<void> {
        KSANA_TRY(request.caller, router.Check(request, route.permission()));
        return {};
    });
    if (outcome) return std::nullopt;
    return ProblemOf(outcome.error(), request);
}

Response RunHandler(const Route& route, const Request& request) {
    Response response;
    const auto outcome = Guarded(route, request.request_id, [&]() -> Result<void> {
        KSANA_TRY(response, std::get<Handler>(route.handler())(request));
        return {};
    });
    return outcome ? std::move(response) : ProblemOf(outcome.error(), request);
}

void RunWork(Work work) {
    if (work.route->asynchronous()) {
        RunAsync(std::move(work));
    } else {
        Response response = RunHandler(*work.route, work.request);
        work.request = Request();  // its body's memory is free again before the client goes on
        work.reply.Send(std::move(response));
    }
}

}  // namespace ksana::http_server
