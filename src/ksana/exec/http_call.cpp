#include "ksana/exec/http_call.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <variant>

#include "ksana/base/text/names.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/exec/answer_outcome.hpp"
#include "ksana/exec/call_values.hpp"
#include "ksana/exec/template_text.hpp"
#include "ksana/exec/webhook_signature.hpp"
#include "ksana/http_client/call_check.hpp"
#include "ksana/model/http_url.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::exec {
namespace {

using http_client::CallRequest;
using http_client::FindHeader;
using http_client::Header;

bool IsOurs(std::string_view header) {
    const std::string name = LowerText(header);
    return name.starts_with("ksana-") || name.starts_with("x-ksana-");
}

Error Impossible(std::string text) { return Error(Code::kInvalidArgument, std::move(text)); }

Result<const model::HttpAction*> ActionOf(const engine::ActiveAttempt& attempt) {
    if (!attempt.job) return Error(Code::kNotFound, "the job does not exist any more");
    const auto* action = std::get_if<model::HttpAction>(&attempt.job->action);
    if (action == nullptr) return Impossible("the job does not call a URL any more");
    return action;
}

Result<std::string> UrlOf(const model::HttpAction& action, const TemplateLookup& lookup) {
    KSANA_TRY(std::string url, FillTemplate(action.url, TemplatePlace::kUrl, lookup));
    if (auto fault = model::CheckHttpUrl(url)) return Impossible("the URL " + *fault);
    return url;
}

Result<std::vector<Header>> OwnHeaders(const model::HttpAction& action,
                                       const TemplateLookup& lookup) {
    std::vector<Header> headers;
    for (const auto& [name, value] : action.headers) {
        if (IsOurs(name)) continue;
        auto filled = FillTemplate(value, TemplatePlace::kHeader, lookup);
        if (!filled) return std::move(filled).error().WithContext("the header " + name);
        if (!model::IsHeaderValue(*filled)) {
            return Impossible(fmt::format(
                "the header {} holds a control character or is longer than 8192 bytes", name));
        }
        headers.push_back({name, std::move(filled).value()});
    }
    return headers;
}

Result<std::string> FilledBody(const std::string& body, TemplatePlace place,
                               const TemplateLookup& lookup) {
    auto filled = FillTemplate(body, place, lookup);
    if (!filled) return std::move(filled).error().WithContext("the body");
    if (place != TemplatePlace::kJson) return filled;
    return FillServiceValues(std::move(filled).value(), lookup);
}

std::string ScheduledAt(const model::Run& run) {
    return FormatTime(run.nominal_at.value_or(run.created_at));
}

// Signs the body, in place of headers of the job with the names of a signature.
void Sign(const model::Run& run, TimePoint now, const engine::SigningKeys& keys,
          CallRequest& request) {
    std::erase_if(request.headers, [](const Header& header) {
        return LowerText(header.name).starts_with("webhook-");
    });
    const std::string run_id = run.id.ToString();
    const std::string scheduled_at = ScheduledAt(run);
    for (auto& [name, value] : WebhookHeaders({.id = run_id,
                               .at = now,
                               .body = request.body,
                               .access_key = keys.access_key,
                               .secrets = keys.secrets,
                               .run_id = run_id,
                               .attempt = run.status.attempt,
                               .scheduled_at = scheduled_at})) {
        request.headers.push_back({std::move(name), std::move(value)});
    }
}

void AddUnlessThere(std::vector<Header>& headers, std::string name, std::string value) {
    if (FindHeader(headers, name) == nullptr)
        headers.push_back({std::move(name), std::move(value)});
}

void AddOurHeaders(const model::Run& run, const HttpCallOptions& options,
                   std::vector<Header>& headers) {
    constexpr std::size_t kOurs = 10;
    headers.reserve(headers.size() + kOurs);
    const auto add = [&headers](std::string_view name, std::string value) {
        headers.push_back({std::string(name), std::move(value)});
    };
    const std::string run_id = run.id.ToString();
    add("X-Ksana-Run-Id", run_id);
    add("Ksana-Run-Id", run_id);
    if (!run.job_id.empty()) add("Ksana-Job-Id", run.job_id);
    add("Ksana-Exec-Id", AttemptIdOf(run));
    add("Ksana-Attempt", std::to_string(run.status.attempt));
    add("Ksana-Fence", std::to_string(run.status.fence));
    add("Ksana-Scheduled-At", ScheduledAt(run));
    if (run.status.deadline) add("Ksana-Deadline", FormatTime(*run.status.deadline));
    AddUnlessThere(headers, "traceparent", model::TraceParentOf(run, options.sampler));
    AddUnlessThere(headers, "User-Agent", UserAgent());
}

}  // namespace

std::string UserAgent() { return "ksana/" KSANA_VERSION; }

namespace {

// Returns a request with the remaining time of the attempt as timeout. kDeadlineExceeded: none is
// left.
Result<CallRequest> FrameOf(const engine::ActiveAttempt& attempt, TimePoint now,
                            const HttpCallOptions& options) {
    const model::Run& run = attempt.run;
    const TimePoint store_now = now + attempt.store_offset;
    const Duration left =
        run.status.deadline ? *run.status.deadline - store_now : run.policy.timeout;
    CallRequest request;
    request.timeout = std::min(left, run.policy.timeout);
    if (request.timeout <= Duration::zero()) {
        return Error(Code::kDeadlineExceeded, "no time was left to send the call");
    }
    request.connect_timeout = std::min(options.connect_timeout, request.timeout);
    request.max_kept = std::max(kMaxResult, kMaxKeptBody);
    request.max_read = options.max_read;
    return request;
}

Result<CallRequest> CheckedCall(CallRequest request) {
    if (auto fault = http_client::FaultOf(request)) return Impossible(std::move(*fault));
    return request;
}

// Sends the body as it was signed, without filling in placeholders.
Result<CallRequest> BuildCallback(const engine::ActiveAttempt& attempt, TimePoint now,
                                  const HttpCallOptions& options) {
    const engine::CallbackCall& call = *attempt.callback;
    if (!call.fault.empty()) return Impossible(call.fault);
    KSANA_TRY(CallRequest request, FrameOf(attempt, now, options));
    request.method = model::MethodOf(call.method);
    request.url = call.url;
    if (auto fault = model::CheckHttpUrl(request.url)) return Impossible("the URL " + *fault);
    request.body = call.body;
    request.headers.push_back({"Content-Type", "application/json"});
    Sign(attempt.run, now, {.access_key = call.access_key, .secrets = call.secrets}, request);
    AddOurHeaders(attempt.run, options, request.headers);
    return CheckedCall(std::move(request));
}

}  // namespace

Result<CallRequest> BuildCall(const engine::ActiveAttempt& attempt, TimePoint now,
                              const HttpCallOptions& options) {
    if (attempt.callback) return BuildCallback(attempt, now, options);
    KSANA_TRY(const model::HttpAction* action, ActionOf(attempt));
    KSANA_TRY(const CallValues values, CallValues::Make(attempt));
    const TemplateLookup lookup = [&values](std::string_view name) { return values.Find(name); };
    KSANA_TRY(CallRequest request, FrameOf(attempt, now, options));
    request.method = action->method;
    KSANA_TRY(request.url, UrlOf(*action, lookup));
    KSANA_TRY(request.headers, OwnHeaders(*action, lookup));
    const TemplatePlace place =
        PlaceOfBody(action->body, FindHeader(request.headers, "content-type"));
    KSANA_TRY(request.body, FilledBody(action->body, place, lookup));
    if (StartsLikeJson(request.body)) {
        AddUnlessThere(request.headers, "Content-Type", "application/json");
    } else if (place == TemplatePlace::kForm) {
        AddUnlessThere(request.headers, "Content-Type", "application/x-www-form-urlencoded");
    }
    if (!action->sign_as.empty()) {
        if (!options.keys_of) return Impossible("only servers sign calls, and this is a worker");
        KSANA_TRY(const engine::SigningKeys keys, options.keys_of(action->sign_as));
        Sign(attempt.run, now, keys, request);
    }
    AddOurHeaders(attempt.run, options, request.headers);
    return CheckedCall(std::move(request));
}

}  // namespace ksana::exec
