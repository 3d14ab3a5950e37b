#include "ksana/exec/http_executor.hpp"

#include <algorithm>
#include <utility>

#include "ksana/base/text/json_output.hpp"
#include "ksana/codec/v1/alert_codec.hpp"
#include "ksana/exec/answer_outcome.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::exec {
namespace {

// Splits "mailto:a@example.com,b@example.com" into its addresses.
std::vector<std::string> AddressesOf(std::string_view url) {
    std::vector<std::string> addresses;
    url.remove_prefix(engine::kMailTo.size());
    while (!url.empty()) {
        const std::size_t comma = std::min(url.find(','), url.size());
        addresses.emplace_back(url.substr(0, comma));
        url.remove_prefix(std::min(comma + 1, url.size()));
    }
    return addresses;
}

// Returns the attempt's detail for a success with a reservation.
std::string NoteOf(std::string_view text) {
    JsonOutput note;
    note.BeginObject();
    note.TextMember("note", text);
    note.EndObject();
    return note.Take();
}

model::Event EventOf(const mail::MailOutcome& outcome) {
    model::Event event;
    event.kind =
        outcome.kind == mail::MailOutcome::Kind::kSent        ? model::EventKind::kSuccess
        : outcome.kind == mail::MailOutcome::Kind::kRefused   ? model::EventKind::kPermanentFailure
        : outcome.kind == mail::MailOutcome::Kind::kTakenBack ? model::EventKind::kCancelled
                                                              : model::EventKind::kRetryableFailure;
    const std::string text = HarmlessText(outcome.error, 1000);
    if (event.kind != model::EventKind::kSuccess) {
        event.error = text;
    } else if (!text.empty()) {  // sent, but not to every recipient
        event.detail = NoteOf(text);
    }
    return event;
}

// The event of a callback that has no receiver any more.
model::Event NobodyToTell() {
    model::Event event;
    event.kind = model::EventKind::kSuccess;
    event.detail = NoteOf("not sent: the type names nobody to be told any more");
    return event;
}

// Returns whether a refused callback is retried. A receiver that refuses is often just not ready
// yet; one that does not want the callback answers 410 or sends Ksana-Retry.
bool IsWorthARetry(const http_client::CallAnswer& answer) {
    constexpr int kGone = 410;
    return answer.error == http_client::CallError::kNone && answer.status != kGone &&
           http_client::FindHeader(answer.headers, "ksana-retry") == nullptr;
}

// The event of a call that was never sent.
model::Event EventOf(const Error& error) {
    model::Event event;
    // The store, which has the keys of a signature, may be away for a while.
    event.kind = error.code == Code::kDeadlineExceeded ? model::EventKind::kTimeout
                 : error.code == Code::kUnavailable    ? model::EventKind::kRetryableFailure
                                                       : model::EventKind::kPermanentFailure;
    event.error = HarmlessText(error.Describe(), 1000);
    return event;
}

}  // namespace

HttpExecutor::HttpExecutor(http_client::Client& client, const Clock& clock, HttpCallOptions options,
                           mail::Mailer* mailer)
    : client_(client), clock_(clock), options_(std::move(options)), mailer_(mailer) {}

void HttpExecutor::Start(std::shared_ptr<const engine::ActiveAttempt> started, Done done) {
    const engine::ActiveAttempt& attempt = *started;
    const bool callback = attempt.callback != nullptr;
    if (callback && attempt.callback->url.empty() && attempt.callback->fault.empty()) {
        return done(NobodyToTell());
    }
    if (callback && attempt.callback->url.starts_with(engine::kMailTo)) {
        return SendMail(attempt, std::move(done));
    }
    auto request = BuildCall(attempt, clock_.Now(), options_);
    if (!request) return done(EventOf(request.error()));
    CallContext context{.target = TargetOf(request->url),
                        .timeout = attempt.run.policy.timeout,
                        .connect_timeout = request->connect_timeout,
                        .trace_id = model::TraceIdOf(attempt.run)};
    const std::string exec_id = attempt.run.status.exec_id;
    Enter(exec_id);
    auto answered = [this, exec_id, callback, context = std::move(context),
                     done = std::move(done)](const http_client::CallAnswer& answer) {
        const bool cancelled = Leave(exec_id);
        model::Event event = OutcomeOf(answer, context, clock_.Now());
        if (event.kind == model::EventKind::kCancelled && !cancelled) {
            event.kind = model::EventKind::kRetryableFailure;
            event.error = "the server stopped while the call was under way";
        }
        const bool refused = event.kind == model::EventKind::kPermanentFailure;
        if (callback && refused && IsWorthARetry(answer)) {
            event.kind = model::EventKind::kRetryableFailure;
        }
        done(std::move(event));
    };
    NoteSent(exec_id, client_.Send(std::move(request).value(), std::move(answered)));
}

void HttpExecutor::SendMail(const engine::ActiveAttempt& attempt, Done done) {
    if (mailer_ == nullptr) {
        return done(EventOf(Error(Code::kUnimplemented, "the server has no smtp_url")));
    }
    auto text = codec::MailTextFromJson(attempt.callback->body);
    if (!text) return done(EventOf(text.error()));
    const model::Run& run = attempt.run;
    const TimePoint now = clock_.Now();
    // The deadline is the end of the attempt, because other mails may be queued for the mail
    // server.
    const TimePoint store_now = now + attempt.store_offset;
    const Duration left =
        std::min(run.status.deadline.value_or(store_now + run.policy.timeout) - store_now,
                 run.policy.timeout);
    if (left <= Duration::zero()) {
        return done(EventOf(Error(Code::kDeadlineExceeded, "no time was left to send the mail")));
    }
    mailer_->Send(
        {.id = run.id.ToString(),
         .to = AddressesOf(attempt.callback->url),
         .subject = std::move(text->subject),
         .text = std::move(text->text),
         .at = now,
         .attempt = run.status.exec_id,
         .deadline = clock_.SteadyNow() + left},
        [done = std::move(done)](const mail::MailOutcome& outcome) { done(EventOf(outcome)); });
}

void HttpExecutor::Cancel(std::string_view exec_id) {
    if (mailer_ != nullptr) mailer_->Cancel(exec_id);  // the attempt may be a mail
    std::optional<http_client::CallId> call;
    {
        const MutexLock lock(mutex_);
        const auto found = calls_.find(exec_id);
        if (found == calls_.end()) return;
        found->second.cancelled = true;
        call = found->second.call;
    }
    if (call) client_.Cancel(*call);
}

void HttpExecutor::Enter(const std::string& exec_id) {
    const MutexLock lock(mutex_);
    calls_.insert_or_assign(exec_id, Call{});
}

// The answer may have arrived already, and a cancellation may have come meanwhile.
void HttpExecutor::NoteSent(const std::string& exec_id, http_client::CallId call) {
    bool cancelled = false;
    {
        const MutexLock lock(mutex_);
        const auto found = calls_.find(exec_id);
        if (found == calls_.end()) return;
        found->second.call = call;
        cancelled = found->second.cancelled;
    }
    if (cancelled) client_.Cancel(call);
}

// Returns whether a cancellation was requested.
bool HttpExecutor::Leave(const std::string& exec_id) {
    const MutexLock lock(mutex_);
    const auto found = calls_.find(exec_id);
    if (found == calls_.end()) return false;
    const bool cancelled = found->second.cancelled;
    calls_.erase(found);
    return cancelled;
}

}  // namespace ksana::exec
