#include "ksana/http_client/client.hpp"

#include <utility>

#include "ksana/http_client/call_check.hpp"
#include "ksana/http_client/client.hpp"
#include "ksana/http_client/curl/multi_loop.hpp"
#include "ksana/http_client/inbox.hpp"
#include "ksana/http_client/plain/plain_request.hpp"

namespace ksana::http_client {
namespace {

// Validates the call and writes the plain request. Runs on the sender's thread, to keep this work
// off the client's thread.
void Prepare(Submission& submission, bool plain_path) {
    CallRequest& request = submission.request;
    if (auto fault = FaultOf(request)) {
        submission.fault = std::move(*fault);
        return;
    }
    if (!plain_path) return;
    submission.plain = PlainRequestOf(request);
    // A call to an IP address never falls back to libcurl, so the parts copied into the plain
    // request are not needed.
    if (!submission.plain || !submission.plain->address) return;
    request.headers = {};
    request.url = {};
    if (submission.plain->body_inside) request.body = {};
}

}  // namespace

Client::Client(ClientOptions options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      counters_(std::make_unique<Counters>()),
      inbox_(std::make_unique<Inbox>()),
      thread_("http-client", [this](const std::stop_token& stop) { loop_->Run(stop); }) {}

Client::~Client() { Stop(); }

Result<void> Client::Start() {
    const MutexLock lock(life_);
    if (running_) return {};
    KSANA_TRY_VOID(inbox_->Open());
    const MultiLoop::Parts parts{options_, clock_, *inbox_, *counters_};
    auto made = MultiLoop::Make(parts);
    auto started = made ? Result<void>() : Result<void>(made.error());
    if (made) {
        loop_ = std::move(made).value();
        started = thread_.Start();
    }
    running_ = started.has_value();
    if (!running_) {
        // Other threads may have called Send since the inbox was opened.
        InboxBatch left = inbox_->Close();
        for (Submission& submission : left.submissions) {
            submission.done({.error = CallError::kCancelled, .error_text = "cancelled"});
        }
        loop_.reset();
    }
    return started;
}

void Client::Stop() {
    const MutexLock lock(life_);
    if (!running_) return;
    thread_.Stop();
    loop_.reset();
    running_ = false;
}

CallId Client::Send(CallRequest request, CallDone done) {
    const CallId id = ++last_id_;
    Submission submission{id, std::move(request), std::move(done), {}, {}};
    Prepare(submission, options_.plain_path);
    if (!inbox_->Put(submission)) {
        constexpr auto kIndex = static_cast<std::size_t>(CallError::kCancelled);
        ++counters_->by_error[kIndex];
        submission.done({.error = CallError::kCancelled, .error_text = "cancelled"});
    }
    return id;
}

void Client::Cancel(CallId id) { inbox_->Cancel(id); }

ClientStatistics Client::statistics() const {
    ClientStatistics statistics;
    for (std::size_t i = 0; i < kCallErrorCount; ++i) {
        statistics.by_error[i] = counters_->by_error[i].load(std::memory_order_relaxed);
        statistics.calls += statistics.by_error[i];
    }
    statistics.connections_made = counters_->connections_made.load(std::memory_order_relaxed);
    statistics.connections_reused = counters_->connections_reused.load(std::memory_order_relaxed);
    return statistics;
}

}  // namespace ksana::http_client
