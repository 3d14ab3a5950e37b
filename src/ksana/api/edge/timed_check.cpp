#include "ksana/api/edge/timed_check.hpp"

#include <fmt/core.h>

#include <utility>

namespace ksana::api {
namespace {

// Bound on waiting callers while a check hangs. Connections bound the probes as well.
constexpr std::size_t kMaxWaiting = 1'000;
// Sleep of a thread that has nothing to do; a notification ends it.
constexpr Duration kLongSleep = std::chrono::hours(1);

}  // namespace

TimedCheck::TimedCheck(std::string name, Check check, Clock& clock, Duration patience)
    : name_(std::move(name)),
      check_(std::move(check)),
      clock_(clock),
      patience_(patience),
      carrier_("check " + name_, [this](const std::stop_token& stop) { CarryOut(stop); }),
      watcher_("watch " + name_, [this](const std::stop_token& stop) { Watch(stop); }) {}

TimedCheck::~TimedCheck() { Stop(); }

Result<void> TimedCheck::Start() {
    KSANA_TRY_VOID(carrier_.Start());
    KSANA_TRY_VOID(watcher_.Start());
    const MutexLock lock(mutex_);
    open_ = true;
    return {};
}

void TimedCheck::Stop() {
    Line left;
    {
        const MutexLock lock(mutex_);
        open_ = false;
        left = std::exchange(waiting_, {});
    }
    for (const Waiting& one : left) one.answer(Error(Code::kUnavailable, "stopping"));
    carrier_.Stop();
    watcher_.Stop();
    const MutexLock lock(mutex_);
    since_.reset();
}

void TimedCheck::Ask(Answer answer) {
    if (auto refused = Join(answer)) answer(*std::move(refused));
}

// Adds `answer` to the waiting callers, or returns the reason for refusing it.
std::optional<Error> TimedCheck::Join(Answer& answer) {
    const MutexLock lock(mutex_);
    if (!open_) return Error(Code::kUnavailable, "starting or stopping");
    const SteadyPoint now = clock_.SteadyNow();
    if (since_ && now - *since_ >= patience_) {
        return Late(std::chrono::duration_cast<Duration>(now - *since_));
    }
    if (waiting_.size() >= kMaxWaiting) return Error(Code::kExhausted, "too many ask at once");
    waiting_.push_back({std::move(answer), now + patience_});
    if (!since_) {
        since_ = now;
        asked_.Notify();
    }
    joined_.Notify();
    return std::nullopt;
}

Error TimedCheck::Late(Duration silent) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(silent).count();
    return {Code::kDeadlineExceeded, fmt::format("no answer for {} ms", ms)};
}

void TimedCheck::CarryOut(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        if (clock_.Wait(asked_, clock_.SteadyNow() + kLongSleep, stop) != WaitOutcome::kNotified) {
            continue;
        }
        const Result<void> result = check_();
        Line line;
        {
            const MutexLock lock(mutex_);
            since_.reset();
            line = std::exchange(waiting_, {});
        }
        for (const Waiting& one : line) one.answer(result);
    }
}

SteadyPoint TimedCheck::NextDeadline() {
    const MutexLock lock(mutex_);
    return waiting_.empty() ? clock_.SteadyNow() + kLongSleep : waiting_.front().until;
}

TimedCheck::Line TimedCheck::TakeLate() {
    const MutexLock lock(mutex_);
    Line late;
    while (!waiting_.empty() && waiting_.front().until <= clock_.SteadyNow()) {
        late.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
    }
    return late;
}

void TimedCheck::Watch(const std::stop_token& stop) {
    while (clock_.Wait(joined_, NextDeadline(), stop) != WaitOutcome::kStopped) {
        for (const Waiting& one : TakeLate()) one.answer(Late(patience_));
    }
}

}  // namespace ksana::api
