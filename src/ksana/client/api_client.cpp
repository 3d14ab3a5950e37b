#include "ksana/client/api_client.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/client/api_error.hpp"
#include "ksana/client/server_url.hpp"

namespace ksana::client {
namespace {

using codec::Json;
using http_client::CallAnswer;
using http_client::CallError;
using http_client::CallRequest;

// A page of a list has at most 8 MB; the metrics may be larger.
constexpr std::size_t kMaxAnswer = 32 << 20;
constexpr std::chrono::milliseconds kLookEvery{50};  // how often `interrupted` is asked

// Returns whether something other than Ksana has answered: a proxy that redirects, or a web page.
// An empty body (204) is fine, and so is text outside the API (/metrics).
bool IsForeignAnswer(const std::string& path, const ApiAnswer& answer, bool is_json) {
    if (answer.status >= 300) return true;
    return path.starts_with("/api/") && !answer.body.empty() && !is_json;
}

Error NotKsana(const std::string& server, const ApiAnswer& answer) {
    const std::string place = answer.HeaderValue("Location");
    return {Code::kInternal,
            fmt::format("{} does not speak Ksana's API: it answered {} {}", server, answer.status,
                        Excerpt(Printable(place.empty() ? answer.HeaderValue("Content-Type")
                                                        : "with the way to " + place),
                                200))};
}

// Shared by the caller and the thread of the HTTP client; the last of them destroys it.
struct Pending {
    Wakeup wakeup;
    Mutex mutex;
    std::optional<CallAnswer> answer KSANA_GUARDED_BY(mutex);
};

}  // namespace

std::string ApiAnswer::HeaderValue(std::string_view name) const {
    const std::string* found = http_client::FindHeader(headers, name);
    return found == nullptr ? "" : *found;
}

std::string ApiPath(std::initializer_list<std::string_view> parts) {
    std::string path = "/api/v1";
    for (const std::string_view part : parts) path += "/" + PercentEncode(part);
    return path;
}

ApiClient::ApiClient(Secret, ApiClientOptions options, const Parts& parts)
    : options_(std::move(options)),
      clock_(parts.clock),
      ids_(parts.ids),
      client_({.max_connections = 4,
               .max_connections_per_host = 4,
               .ca_file = options_.ca_file,
               .egress = AnyAddress()},
              parts.clock) {}

ApiClient::~ApiClient() { client_.Stop(); }

Result<std::unique_ptr<ApiClient>> ApiClient::Make(ApiClientOptions options, const Parts& parts) {
    KSANA_TRY(options.server, CheckServerUrl(std::move(options.server)));
    auto made = std::make_unique<ApiClient>(Secret{}, std::move(options), parts);
    KSANA_TRY_VOID(made->client_.Start());
    return made;
}

CallRequest ApiClient::Prepare(ApiRequest& request) const {
    CallRequest call;
    call.method = request.method;
    call.url = options_.server + request.path;
    char separator = '?';
    for (const auto& [name, value] : request.query) {
        call.url += separator + PercentEncode(name) + "=" + PercentEncode(value);
        separator = '&';
    }
    call.headers = std::move(request.headers);
    call.headers.push_back({"Accept", "application/json, application/problem+json;q=0.9, */*"});
    if (!options_.token.empty()) {
        call.headers.push_back({"Authorization", "Bearer " + options_.token});
    }
    if (!request.body.empty()) {
        const bool patch = request.method == HttpMethod::kPatch;
        call.headers.push_back(
            {"Content-Type", patch ? "application/merge-patch+json" : "application/json"});
        call.body = std::move(request.body);
    }
    call.timeout = options_.timeout;
    call.connect_timeout = std::min<Duration>(options_.timeout, std::chrono::seconds(10));
    call.max_kept = kMaxAnswer;
    call.max_read = kMaxAnswer;
    return call;
}

CallAnswer ApiClient::Await(const CallRequest& request) {
    const auto pending = std::make_shared<Pending>();
    const http_client::CallId id = client_.Send(request, [pending](CallAnswer answer) {
        {
            const MutexLock lock(pending->mutex);
            pending->answer = std::move(answer);
        }
        pending->wakeup.Notify();
    });
    for (bool cancelled = false;;) {
        clock_.Wait(pending->wakeup, clock_.SteadyNow() + kLookEvery, {});
        {
            const MutexLock lock(pending->mutex);
            if (pending->answer) return std::move(*pending->answer);
        }
        if (!cancelled && options_.interrupted && options_.interrupted()) {
            client_.Cancel(id);  // then the answer comes at once
            cancelled = true;
        }
    }
}

Result<ApiAnswer> ApiClient::Call(ApiRequest request) {
    const bool is_post = request.method == HttpMethod::kPost;
    if (is_post) request.headers.push_back({"Idempotency-Key", ids_.Next().ToString()});
    const bool repeatable = is_post || request.method == HttpMethod::kGet;
    const CallRequest call = Prepare(request);
    CallAnswer got = Await(call);
    // The server may have received the request: only these may be sent again.
    if (got.error == CallError::kProtocol && repeatable) got = Await(call);
    if (got.error != CallError::kNone) return ErrorOfCall(got, options_.server);
    if (got.body_truncated) {
        return Error(Code::kExhausted, fmt::format("the answer of {} is larger than {} MB",
                                                   options_.server, kMaxAnswer >> 20U));
    }
    if (got.status >= 400) return ErrorOfAnswer(got.status, got.body);
    ApiAnswer answer{got.status, std::move(got.headers), std::move(got.body), {}};
    const bool is_json = answer.HeaderValue("Content-Type").find("json") != std::string::npos;
    if (IsForeignAnswer(request.path, answer, is_json)) return NotKsana(options_.server, answer);
    if (is_json) {
        auto parsed = Json::Parse(answer.body, kMaxAnswer);
        if (!parsed) {
            return std::move(parsed).error().WithContext(
                fmt::format("the answer of {} is not JSON", options_.server));
        }
        answer.json = std::move(*parsed);
    }
    return answer;
}

Result<ApiAnswer> ApiClient::Get(std::string path, Query query) {
    return Call({.method = HttpMethod::kGet, .path = std::move(path), .query = std::move(query)});
}

Result<ApiAnswer> ApiClient::Post(std::string path, const Json& body) {
    return Call({.method = HttpMethod::kPost,
                 .path = std::move(path),
                 .query = {},
                 .body = body.IsNull() ? "" : body.Compact()});
}

namespace {

std::vector<Header> Condition(std::string if_match) {
    if (if_match.empty()) return {};
    if (if_match == ApiClient::kMustBeNew) return {{"If-None-Match", "*"}};
    return {{"If-Match", std::move(if_match)}};
}

}  // namespace

Result<ApiAnswer> ApiClient::Put(std::string path, const Json& body, std::string if_match) {
    return Call({.method = HttpMethod::kPut,
                 .path = std::move(path),
                 .query = {},
                 .body = body.Compact(),
                 .headers = Condition(std::move(if_match))});
}

Result<ApiAnswer> ApiClient::Patch(std::string path, const Json& body, std::string if_match) {
    return Call({.method = HttpMethod::kPatch,
                 .path = std::move(path),
                 .query = {},
                 .body = body.Compact(),
                 .headers = Condition(std::move(if_match))});
}

Result<ApiAnswer> ApiClient::Delete(std::string path, std::string if_match) {
    return Call({.method = HttpMethod::kDelete,
                 .path = std::move(path),
                 .query = {},
                 .body = "",
                 .headers = Condition(std::move(if_match))});
}

}  // namespace ksana::client
