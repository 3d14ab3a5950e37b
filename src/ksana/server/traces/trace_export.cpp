#include "ksana/server/traces/trace_export.hpp"

#include <algorithm>
#include <optional>

#include "ksana/base/log/log.hpp"
#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/exec/answer_outcome.hpp"
#include "ksana/exec/http_call.hpp"

namespace ksana::server {
namespace {

// A receiver that asks for a longer pause is asked again after this.
constexpr Duration kLongestRetryAfter = std::chrono::minutes(10);
// Of an answer: a partial success is short.
constexpr std::size_t kMaxAnswer = 16 << 10;

// The receiver is named by who starts the server, so it may be at any address.
http_client::EgressRules AnyAddress() {
    http_client::EgressRules rules;
    for (const std::string_view range : {"0.0.0.0/0", "::/0"}) {
        if (auto cidr = http_client::ParseCidr(range)) rules.allow.push_back(*std::move(cidr));
    }
    return rules;
}

http_client::ClientOptions ClientOptionsFor(const TraceSettings& settings) {
    http_client::ClientOptions options;
    options.max_connections = 2;
    options.max_connections_per_host = 2;
    options.ca_file = settings.ca_file;
    options.egress = AnyAddress();
    return options;
}

// Waits for one answer. Shared with the client's thread, which may be the last to let go.
class Waiting {
  public:
    void Take(http_client::CallAnswer answer) {
        {
            const MutexLock lock(mutex_);
            answer_ = std::move(answer);
        }
        changed_.NotifyAll();
    }
    // The client ends every call, at the latest at its timeout.
    http_client::CallAnswer Wait() {
        MutexLock lock(mutex_);
        changed_.Wait(lock, [this]() KSANA_REQUIRES(mutex_) { return answer_.has_value(); });
        return *std::move(answer_);
    }

  private:
    Mutex mutex_;
    CondVar changed_;
    std::optional<http_client::CallAnswer> answer_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace

TraceExport::TraceExport(const TraceSettings& settings, store::Store& store, engine::Observer& next,
                         telemetry::Registry& registry, Clock& clock, Random& random)
    : url_(settings.url),
      headers_(settings.headers),
      clock_(clock),
      client_(ClientOptionsFor(settings), clock),
      exporter_(
          settings.exporter,
          [this](std::string body, bool gzip, Duration timeout) {
              return Send(std::move(body), gzip, timeout);
          },
          registry, clock, random),
      runs_(exporter_, store, settings.sampler, next) {}

Result<void> TraceExport::Start() {
    KSANA_TRY_VOID(client_.Start());
    return exporter_.Start();
}

void TraceExport::Stop() {
    exporter_.Stop();
    client_.Stop();
}

telemetry::ExportAnswer TraceExport::Send(std::string body, bool gzip, Duration timeout) {
    http_client::CallRequest request;
    request.method = HttpMethod::kPost;
    request.url = url_;
    request.headers = headers_;
    request.headers.push_back({"Content-Type", "application/json"});
    request.headers.push_back({"User-Agent", exec::UserAgent()});
    if (gzip) request.headers.push_back({"Content-Encoding", "gzip"});
    request.body = std::move(body);
    request.timeout = timeout;
    request.connect_timeout = std::min(request.connect_timeout, timeout);
    request.max_kept = kMaxAnswer;
    const auto waiting = std::make_shared<Waiting>();
    client_.Send(std::move(request),
                 [waiting](http_client::CallAnswer answer) { waiting->Take(std::move(answer)); });
    const http_client::CallAnswer answer = waiting->Wait();
    telemetry::ExportAnswer told;
    if (answer.error != http_client::CallError::kNone) {
        told.text = answer.error_text;
        return told;
    }
    told.status = answer.status;
    told.text = answer.body;
    const std::string* const after = http_client::FindHeader(answer.headers, "retry-after");
    if (after != nullptr) told.retry_after = exec::ParseRetryAfter(*after, clock_.Now());
    if (told.retry_after) told.retry_after = std::min(*told.retry_after, kLongestRetryAfter);
    return told;
}

std::unique_ptr<TraceExport> MakeTraceExport(const TraceSettings& settings, store::Store& store,
                                             engine::Observer& next, telemetry::Registry& registry,
                                             Clock& clock, Random& random) {
    for (const std::string& warning : settings.warnings) {
        Log(LogLevel::kWarn, "a variable of OpenTelemetry is wrong", {{"variable", warning}});
    }
    if (settings.url.empty()) return nullptr;
    return std::make_unique<TraceExport>(settings, store, next, registry, clock, random);
}

}  // namespace ksana::server
