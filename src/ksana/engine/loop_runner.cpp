#include "ksana/engine/loop_runner.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "ksana/base/log/log.hpp"

namespace ksana::engine {

LoopRunner::LoopRunner(Loop loop, Clock& clock, store::ChangeFeed& changes, Observer* observer)
    : loop_(std::move(loop)),
      clock_(clock),
      changes_(changes),
      observer_(observer),
      thread_(loop_.name, [this](const std::stop_token& stop) { Run(stop); }) {}

Result<void> LoopRunner::Start() {
    const MutexLock lock(mutex_);
    if (!subscription_ && !loop_.topics.Empty()) {
        subscription_ = changes_.Subscribe(loop_.topics, [this](store::Topics topics) {
            if (!loop_.hint || loop_.hint(topics)) wakeup_.Notify();
        });
    }
    // The loop counts as alive from now on, even before its thread is scheduled.
    last_step_ = clock_.SteadyNow().time_since_epoch().count();
    return thread_.Start();
}

void LoopRunner::Stop() {
    const MutexLock lock(mutex_);
    subscription_.reset();
    thread_.Stop();
}

void LoopRunner::Run(const std::stop_token& stop) {
    std::optional<Duration> late;
    while (!stop.stop_requested()) {
        const SteadyPoint began = clock_.SteadyNow();
        last_step_ = began.time_since_epoch().count();
        auto step = RunOnce();
        NoteStep(std::exchange(late, std::nullopt), began);
        if (!step) {
            PauseAfter(step.error(), stop);
            continue;
        }
        if (backoff_ > Duration::zero()) {
            Log(LogLevel::kInfo, "the store answers again", {{"loop", loop_.name}});
            backoff_ = Duration::zero();
        }
        if (!step->again) late = WaitFor(*step, stop);
    }
}

// A step without memory is tried again as one that the store refused: what it had claimed comes
// back when its lease ends.
Result<Step> LoopRunner::RunOnce() {
    try {
        return loop_.run_once();
    } catch (const std::bad_alloc&) {
        return Error(Code::kUnavailable, "out of memory");
    }
}

void LoopRunner::NoteStep(std::optional<Duration> late, SteadyPoint began) {
    if (observer_ == nullptr) return;
    const auto took = std::chrono::duration_cast<Duration>(clock_.SteadyNow() - began);
    observer_->Stepped({.loop = loop_.name, .late = late, .took = took});
}

// Waits on the wall clock for `next`, so that a clock change is noticed, and on the steady clock
// for `within`.
std::optional<Duration> LoopRunner::WaitFor(const Step& step, const std::stop_token& stop) {
    const SteadyPoint latest = clock_.SteadyNow() + step.within.value_or(kLongestSleep);
    while (!stop.stop_requested()) {
        const SteadyPoint now = clock_.SteadyNow();
        last_step_ = now.time_since_epoch().count();
        SteadyPoint until = std::min(latest, now + Clock::kJumpNotice);
        if (step.next) {
            const TimePoint wall = clock_.Now();
            if (*step.next <= wall) return wall - *step.next;
            until = std::min<SteadyPoint>(until, now + (*step.next - wall));
        }
        if (clock_.Wait(wakeup_, until, stop) != WaitOutcome::kDeadline) return std::nullopt;
        if (const SteadyPoint woken = clock_.SteadyNow(); woken >= latest) {
            if (!step.within) return std::nullopt;
            return std::chrono::duration_cast<Duration>(woken - latest);
        }
    }
    return std::nullopt;
}

// Logs once when the store fails and once when it answers again. A wake-up does not shorten the
// pause: every commit of another loop causes one.
void LoopRunner::PauseAfter(const Error& error, const std::stop_token& stop) {
    if (backoff_ == Duration::zero()) {
        Log(LogLevel::kError, "a step of the engine failed",
            {{"loop", loop_.name}, {"error", error.Describe()}});
    }
    if (observer_ != nullptr) observer_->StepFailed(loop_.name, error);
    backoff_ = std::clamp(backoff_ * 2, kFirstBackoff, kLongestBackoff);
    Wakeup nobody;
    clock_.Wait(nobody, clock_.SteadyNow() + backoff_, stop);
}

}  // namespace ksana::engine
