#include "ksana/lock_etcd/etcd_calls.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/text/json_output.hpp"
#include "ksana/lock_etcd/etcd_error.hpp"

namespace ksana::lock_etcd {
namespace {

using http_client::CallAnswer;
using http_client::CallError;
using http_client::CallRequest;

// A call that one thread waits for. Shared with the callback on the client's thread.
struct PendingCall {
    Mutex mutex;
    CondVar changed;
    std::optional<CallAnswer> answer KSANA_GUARDED_BY(mutex);
};

// The client ends every call by its timeout, so the wait ends too.
CallAnswer SendAndWait(http_client::Client& client, CallRequest request) {
    const auto pending = std::make_shared<PendingCall>();
    client.Send(std::move(request), [pending](CallAnswer answer) {
        const MutexLock lock(pending->mutex);
        pending->answer = std::move(answer);
        pending->changed.NotifyOne();
    });
    PendingCall& call = *pending;
    MutexLock lock(call.mutex);
    call.changed.Wait(lock,
                      [&call]() KSANA_REQUIRES(call.mutex) { return call.answer.has_value(); });
    return std::move(*call.answer);
}

// Every address that the operator has configured is allowed: the guard is for targets of jobs.
http_client::ClientOptions ClientOptionsFor(const EtcdLockOptions& options) {
    http_client::ClientOptions made{.ca_file = options.ca_file, .egress = {}};
    for (const bool is_v4 : {true, false}) {
        made.egress.allow.push_back({.base = {.bytes = {}, .is_v4 = is_v4}, .bits = 0});
    }
    return made;
}

std::string HostAndPort(const EtcdEndpoint& endpoint) {
    const bool v6 = endpoint.host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", v6 ? "[" : "", endpoint.host, v6 ? "]" : "", endpoint.port);
}

}  // namespace

EtcdCalls::EtcdCalls(EtcdLockOptions options)
    : options_(std::move(options)), client_(ClientOptionsFor(options_), options_.clock) {}

Result<void> EtcdCalls::Start() { return client_.Start(); }

std::string EtcdCalls::Location() const {
    std::string text = options_.tls ? "etcds://" : "etcd://";
    for (const EtcdEndpoint& endpoint : options_.endpoints) {
        if (text.back() != '/') text += ',';
        text += HostAndPort(endpoint);
    }
    return text;
}

Result<codec::Json> EtcdCalls::Post(std::string_view path, const std::string& body,
                                    SteadyPoint deadline) {
    KSANA_TRY(const std::string token, Token(std::nullopt, deadline));
    auto answer = PostInTurn(path, body, token, deadline);
    if (answer || options_.user.empty() || !WantsNewToken(answer.error())) return answer;
    KSANA_TRY(const std::string renewed, Token(token, deadline));
    return PostInTurn(path, body, renewed, deadline);
}

void EtcdCalls::PostLater(std::string_view path, std::string body) {
    std::string token;
    {
        const MutexLock lock(mutex_);
        token = token_.value_or("");
    }
    const EtcdEndpoint& endpoint = options_.endpoints[last_good_];
    client_.Send(MakeCall(endpoint, path, std::move(body), token, options_.timeout),
                 [](const CallAnswer&) {});
}

Result<codec::Json> EtcdCalls::PostInTurn(std::string_view path, const std::string& body,
                                          const std::string& token, SteadyPoint deadline) {
    const std::size_t count = options_.endpoints.size();
    const std::size_t first = last_good_;
    Error fault(Code::kUnavailable, fmt::format("{}: no time left", Location()));
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = (first + i) % count;
        const SteadyPoint now = options_.clock.SteadyNow();
        if (now >= deadline) break;
        const SteadyPoint until = now + (deadline - now) / (count - i);
        const EtcdEndpoint& endpoint = options_.endpoints[at];
        auto answer = ReadEtcdAnswer(PostTo(endpoint, path, body, token, until),
                                     "etcd " + HostAndPort(endpoint));
        if (answer || answer.error().code != Code::kUnavailable) {
            last_good_ = at;
            return answer;
        }
        fault = std::move(answer).error();
    }
    return fault;
}

CallAnswer EtcdCalls::PostTo(const EtcdEndpoint& endpoint, std::string_view path,
                             const std::string& body, const std::string& token, SteadyPoint until) {
    CallAnswer answer;
    // A connection that breaks before the answer says nothing about the server: once more.
    for (int attempt = 0; attempt < 2; ++attempt) {
        const auto left = std::chrono::ceil<Duration>(until - options_.clock.SteadyNow());
        if (attempt > 0 && left <= Duration::zero()) break;
        answer = SendAndWait(client_,
                             MakeCall(endpoint, path, body, token, std::max(left, Duration(1))));
        if (answer.error != CallError::kProtocol) break;
    }
    return answer;
}

CallRequest EtcdCalls::MakeCall(const EtcdEndpoint& endpoint, std::string_view path,
                                std::string body, const std::string& token,
                                Duration timeout) const {
    CallRequest request{.method = HttpMethod::kPost,
                        .url = fmt::format("{}://{}{}", options_.tls ? "https" : "http",
                                           HostAndPort(endpoint), path),
                        .headers = {{"Content-Type", "application/json"}},
                        .body = std::move(body),
                        .connect_timeout = timeout,
                        .timeout = timeout,
                        .egress = {}};
    if (!token.empty()) request.headers.push_back({"Authorization", token});
    return request;
}

Result<std::string> EtcdCalls::Token(const std::optional<std::string>& refused,
                                     SteadyPoint deadline) {
    if (options_.user.empty()) return std::string();
    {
        const MutexLock lock(mutex_);
        if (token_ && token_ != refused) return *token_;
    }
    // Without the lock: two threads may fetch a token each, and both tokens are valid.
    JsonOutput body;
    body.BeginObject();
    body.TextMember("name", options_.user);
    body.TextMember("password", options_.password);
    body.EndObject();
    const auto answer = PostInTurn("/v3/auth/authenticate", body.Take(), "", deadline);
    if (!answer && !AuthenticationIsOff(answer.error())) return answer.error();
    std::string token = answer ? answer->TextAt("/token") : std::string();
    const MutexLock lock(mutex_);
    token_ = token;
    return token;
}

}  // namespace ksana::lock_etcd
