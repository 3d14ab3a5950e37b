#include "ksana/http_server/routing/dispatch.hpp"

#include <exception>
#include <new>
#include <utility>

#include "ksana/base/log/log.hpp"

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

void RunAsync(const Router& router, Work work) {
    const std::string request_id = work.request.request_id;
    // The reply stays here until the handler takes it, so that a refusal can be answered.
    const auto outcome = Guarded(*work.route, request_id, [&]() -> Result<void> {
        KSANA_TRY(work.request.caller, router.Check(work.request, work.route->permission()));
        return {};
    });
    if (!outcome) {
        work.reply.Fail(outcome.error());
        return;
    }
    // A handler that throws has dropped its reply while unwinding (which answers 500), or has
    // passed it on to be answered later.
    (void)Guarded(*work.route, request_id, [&]() -> Result<void> {
        std::get<AsyncHandler>(work.route->handler())(std::move(work.request),
                                                      std::move(work.reply));
        return {};
    });
}

}  // namespace

Response RunHandler(const Router& router, const Route& route, Request& request) {
    Response response;
    const auto outcome = Guarded(route, request.request_id, [&]() -> Result<void> {
        KSANA_TRY(request.caller, router.Check(request, route.permission()));
        KSANA_TRY(response, std::get<Handler>(route.handler())(request));
        return {};
    });
    return outcome ? std::move(response) : ProblemOf(outcome.error(), request);
}

void RunWork(const Router& router, Work work) {
    if (work.route->asynchronous()) {
        RunAsync(router, std::move(work));
    } else {
        work.reply.Send(RunHandler(router, *work.route, work.request));
    }
}

}  // namespace ksana::http_server
