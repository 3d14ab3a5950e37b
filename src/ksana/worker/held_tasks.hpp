#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/dispatch/executor.hpp"
#include "ksana/worker/protocol.hpp"

namespace ksana::worker {

using engine::StopReason;

inline constexpr SteadyPoint kNever = SteadyPoint::max();

// Hears of the end of attempts, for metrics and log. Called on any thread, without a lock.
using AttemptEnded = std::function<void(const model::Run&, const model::Event&, Duration took)>;

// The attempts that a worker holds: their leases, their news, and the reports that the server has
// not answered yet. The loop takes what is to be sent and says what became of it; executors tell
// news and ends from their own threads. Knows no server. Shared by the loop and the executors'
// callbacks. Thread-safe.
class HeldTasks : public std::enable_shared_from_this<HeldTasks> {
  public:
    struct Options {
        std::size_t slots = 1;
        Duration lease{};
        std::function<void()> wake;  // something is to be sent; any thread
        AttemptEnded ended = {};
    };

    // `clock` must outlive the object.
    HeldTasks(const Clock& clock, Options options) : clock_(clock), options_(std::move(options)) {}

    // Takes a claimed run, asked for at `asked_at`, and starts it. Without an executor it fails, as
    // this worker should not have got it.
    void Start(Claimed claimed, engine::Executor* executor, SteadyPoint asked_at);
    // Takes a claimed run only to give it back.
    void GiveBack(Claimed claimed);

    std::size_t running() const;  // attempts whose executor has not answered
    std::size_t pending() const;  // reports to be sent or answered
    // How many runs may be claimed. Ended runs that wait for their report count only if they are
    // many.
    std::size_t Free() const;

    // Asks attempts to stop whose lease is over by this machine's steady clock, or whose time is.
    void StopDue(SteadyPoint now);
    void StopAll(StopReason reason);
    // Reports every attempt as given back, whether or not it has stopped.
    void ReleaseAll();
    // Forgets all reports and stops everything: the server has given the runs to others.
    void LoseAll();

    // A report of one attempt, which may be several in the exchange.
    struct Report {
        std::string exec_id;
        std::vector<std::string> texts;
        engine::AttemptNews news = {};  // of a renewal: to be told again if it was not answered
    };
    // Returns the renewals that are due, with all news, and those with news only.
    std::vector<Report> TakeBeats(SteadyPoint now);
    void NoteBeat(const Report& beat, const Verdict& verdict, SteadyPoint sent_at);
    // Renews again at that time. `refused`: without the news, which the server does not take.
    void BeatFailed(Report beat, SteadyPoint again_at, bool refused);

    // Returns reports of ended attempts, at most so many, and not more than fit into one call.
    std::vector<Report> TakeEnds(std::size_t most);
    // The server has answered.
    void NoteEnd(const Report& report, const Verdict& verdict);
    void EndFailed(const Report& report);
    // The server refuses this report for what it says: a result becomes a failure, any other end is
    // dropped with a line in the log.
    void EndRefused(const Report& report, const std::string& why);

    // When StopDue or TakeBeats has something to do; none: not before an end or news.
    std::optional<SteadyPoint> NextTime() const;

  private:
    struct Task {
        engine::AttemptPointer attempt;
        engine::Executor* executor = nullptr;
        SteadyPoint began{};
        SteadyPoint expires{};     // of the lease
        SteadyPoint renew_at{};    // max(): not any more
        SteadyPoint overdue_at{};  // max(): asked to stop already
        StopReason stop = StopReason::kNone;
        engine::AttemptNews news = {};
        bool beating = false;    // a renewal is under way
        bool executing = false;  // the executor has not answered
        bool ended = false;      // to be reported
        bool reporting = false;  // the report is under way
        bool lost = false;       // no report
        model::Event event = {};
    };
    using Tasks = std::map<std::string, Task, std::less<>>;
    // A request to an executor, made without the lock.
    struct Stopping {
        engine::Executor* executor;
        std::string exec_id;
    };

    Task& Add(Claimed claimed, engine::Executor* executor, SteadyPoint now) KSANA_REQUIRES(mutex_);
    void Tell(const std::string& exec_id, engine::AttemptNews news);
    void End(const std::string& exec_id, model::Event event);
    void Stop(Task& task, StopReason reason, std::vector<Stopping>& out) KSANA_REQUIRES(mutex_);
    void Lose(Task& task, std::string_view why, std::vector<Stopping>& out) KSANA_REQUIRES(mutex_);
    void EraseIfOver(Tasks::iterator found) KSANA_REQUIRES(mutex_);
    static void CancelAll(const std::vector<Stopping>& stopping);

    const Clock& clock_;
    const Options options_;
    mutable Mutex mutex_;
    Tasks tasks_ KSANA_GUARDED_BY(mutex_);  // by exec_id
};

}  // namespace ksana::worker
