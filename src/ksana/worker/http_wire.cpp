#include "ksana/worker/http_wire.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/client/api_error.hpp"
#include "ksana/client/server_url.hpp"

namespace ksana::worker {
namespace {

// The answer to a claim: 500 runs, most of them small.
constexpr std::size_t kMaxAnswer = std::size_t{64} << 20;
constexpr Duration kConnectTimeout = std::chrono::seconds(5);
constexpr Duration kRefusedPause = std::chrono::seconds(1);
constexpr Duration kMostRetryAfter = std::chrono::seconds(60);

// Whether another server may answer where this one did not.
bool IsAway(const http_client::CallAnswer& answer) {
    if (answer.error != http_client::CallError::kNone) return true;
    return answer.status >= 500 && answer.status != 501;
}

Duration RetryAfter(const http_client::CallAnswer& answer) {
    const std::string* const text = http_client::FindHeader(answer.headers, "Retry-After");
    if (text == nullptr) return kRefusedPause;
    int seconds = 0;
    std::from_chars(text->data(), text->data() + text->size(), seconds);
    return std::clamp<Duration>(std::chrono::seconds(seconds), kRefusedPause, kMostRetryAfter);
}

}  // namespace

Result<std::unique_ptr<HttpWire>> HttpWire::Make(HttpWireOptions options, const Clock& clock,
                                                 Random& random) {
    KSANA_TRY(ServerList servers, ServerList::Parse(options.servers));
    std::string token;
    if (options.token) {
        KSANA_TRY(token, options.token());
    }
    auto made =
        std::make_unique<HttpWire>(Key{}, std::move(options), std::move(servers), clock, random);
    const MutexLock lock(made->mutex_);
    made->token_ = std::move(token);
    return made;
}

HttpWire::HttpWire(Key /*key*/, HttpWireOptions options, ServerList servers, const Clock& clock,
                   Random& random)
    : options_(std::move(options)),
      random_(random),
      servers_(std::move(servers)),
      client_({.max_connections = 16,
               .max_connections_per_host = 8,
               .ca_file = options_.ca_file,
               .egress = client::AnyAddress()},
              clock) {}

HttpWire::~HttpWire() { client_.Stop(); }

Wire::CallId HttpWire::Send(WireCall call, Done done) {
    http_client::CallRequest request;
    request.method = call.method;
    request.headers.push_back({"Accept", "application/json, application/problem+json;q=0.9"});
    request.body = std::move(call.body);
    if (!request.body.empty()) request.headers.push_back({"Content-Type", "application/json"});
    request.timeout = call.timeout;
    request.connect_timeout = std::min(call.timeout, kConnectTimeout);
    request.max_kept = kMaxAnswer;
    request.max_read = kMaxAnswer;
    std::size_t server = 0;
    std::string url;
    {
        const MutexLock lock(mutex_);
        server = servers_.index();
        url = servers_.current();
        if (!token_.empty()) request.headers.push_back({"Authorization", "Bearer " + token_});
    }
    request.url = url + call.path;
    return client_.Send(
        std::move(request),
        [this, server, url = std::move(url), done = std::move(done)](
            const http_client::CallAnswer& answer) { done(Read(server, url, answer)); });
}

WireAnswer HttpWire::Read(std::size_t server, const std::string& url,
                          const http_client::CallAnswer& answer) {
    WireAnswer read{.error = {}, .status = answer.status, .json = {}, .pause = {}};
    if (answer.error == http_client::CallError::kCancelled) {
        read.error = Error(Code::kUnavailable, "the call was ended");
        return read;
    }
    if (IsAway(answer)) {
        const bool answered = answer.error == http_client::CallError::kNone;
        read.error = answered ? client::ErrorOfAnswer(answer.status, answer.body)
                              : client::ErrorOfCall(answer, url);
        const MutexLock lock(mutex_);
        read.pause = servers_.NoteFailure(server, random_);
        return read;
    }
    {
        const MutexLock lock(mutex_);
        servers_.NoteAnswer(server);
    }
    if (answer.status >= 300) {
        read.error = client::ErrorOfAnswer(answer.status, answer.body);
        read.pause = RetryAfter(answer);
        if (answer.status == 401) ReadTokenAgain();
        return read;
    }
    if (answer.body.empty()) return read;
    auto parsed = codec::Json::Parse(answer.body, kMaxAnswer);
    if (parsed) {
        read.json = *std::move(parsed);
    } else {
        read.error = Error(Code::kInternal, url + " does not speak Ksana's API: no JSON");
        read.pause = kRefusedPause;
    }
    return read;
}

// On the thread of the HTTP client: reading a small file blocks for no long time.
void HttpWire::ReadTokenAgain() {
    if (!options_.token) return;
    auto token = options_.token();
    if (!token) {
        Log(LogLevel::kWarn, "the token cannot be read", {{"error", token.error().message}});
        return;
    }
    const MutexLock lock(mutex_);
    token_ = *std::move(token);
}

void HttpWire::Leave() {
    const MutexLock lock(mutex_);
    servers_.Leave();
}

std::uint64_t HttpWire::turns() const {
    const MutexLock lock(mutex_);
    return servers_.turns();
}

bool HttpWire::reachable() const {
    const MutexLock lock(mutex_);
    return servers_.reachable();
}

std::string HttpWire::server() const {
    const MutexLock lock(mutex_);
    return servers_.current();
}

}  // namespace ksana::worker
