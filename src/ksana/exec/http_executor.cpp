#include "ksana/exec/http_executor.hpp"

#include <utility>

#include "ksana/exec/answer_outcome.hpp"

namespace ksana::exec {
namespace {

// The attempt was never sent.
model::Event EventOf(const Error& error) {
    model::Event event;
    event.kind = error.code == Code::kDeadlineExceeded ? model::EventKind::kTimeout
                                                       : model::EventKind::kPermanentFailure;
    event.error = HarmlessText(error.Describe(), 1000);
    return event;
}

}  // namespace

HttpExecutor::HttpExecutor(http_client::Client& client, const Clock& clock, HttpCallOptions options)
    : client_(client), clock_(clock), options_(options) {}

void HttpExecutor::Start(engine::Task task, Done done) {
    auto request = BuildCall(task, clock_.Now(), options_);
    if (!request) return done(EventOf(request.error()));
    CallContext context{.target = TargetOf(request->url),
                        .timeout = task.run.policy.timeout,
                        .connect_timeout = request->connect_timeout,
                        .trace_id = TraceIdOf(task.run)};
    const std::string exec_id = task.run.status.exec_id;
    Enter(exec_id);
    auto answered = [this, exec_id, context = std::move(context),
                     done = std::move(done)](const http_client::CallAnswer& answer) {
        const bool cancelled = Leave(exec_id);
        model::Event event = OutcomeOf(answer, context, clock_.Now());
        if (event.kind == model::EventKind::kCancelled && !cancelled) {
            event.kind = model::EventKind::kRetryableFailure;
            event.error = "the server stopped while the call was under way";
        }
        done(std::move(event));
    };
    NoteSent(exec_id, client_.Send(std::move(request).value(), std::move(answered)));
}

void HttpExecutor::Cancel(std::string_view exec_id) {
    std::optional<http_client::CallId> call;
    {
        const std::lock_guard lock(mutex_);
        const auto found = attempts_.find(exec_id);
        if (found == attempts_.end()) return;
        found->second.cancelled = true;
        call = found->second.call;
    }
    if (call) client_.Cancel(*call);
}

void HttpExecutor::Enter(const std::string& exec_id) {
    const std::lock_guard lock(mutex_);
    attempts_.insert_or_assign(exec_id, Attempt{});
}

// Its answer may have come already; and somebody may have asked to cancel it meanwhile.
void HttpExecutor::NoteSent(const std::string& exec_id, http_client::CallId call) {
    bool cancelled = false;
    {
        const std::lock_guard lock(mutex_);
        const auto found = attempts_.find(exec_id);
        if (found == attempts_.end()) return;
        found->second.call = call;
        cancelled = found->second.cancelled;
    }
    if (cancelled) client_.Cancel(call);
}

// Whether somebody asked to cancel it.
bool HttpExecutor::Leave(const std::string& exec_id) {
    const std::lock_guard lock(mutex_);
    const auto found = attempts_.find(exec_id);
    if (found == attempts_.end()) return false;
    const bool cancelled = found->second.cancelled;
    attempts_.erase(found);
    return cancelled;
}

}  // namespace ksana::exec
