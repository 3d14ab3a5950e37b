#include "ksana/insight/simulate/sim_slots.hpp"

#include <algorithm>
#include <deque>
#include <queue>
#include <tuple>

#include "ksana/model/job/overlap.hpp"

namespace ksana::insight {
namespace {

using model::OverlapPolicy;
using model::OverlapVerdict;

// Stop when this many runs wait: the result would not improve.
constexpr std::size_t kMaxWaiting = 1'000'000;
// Between two looks whether the simulation was stopped.
constexpr std::int64_t kEventsBetweenLooks = 4096;

// The event loop of SimulateSlots, for one call.
class SlotWorld {
  public:
    SlotWorld(const SlotsParams& params, SimResults& books)
        : jobs_(params.jobs),
          groups_(params.groups),
          books_(books),
          free_(params.slots),
          lanes_(params.jobs.size()),
          links_(params.links),
          max_fires_(params.max_fires),
          stopped_(params.stopped) {
        answer_.waits.slots = params.slots;
        for (std::size_t i = 0; i < groups_.size(); ++i) NextFire(i, params.from - Duration(1));
    }

    SlotsAnswer Run() {
        while (!fires_.empty() || !ends_.empty()) {
            // A run that ends at the time of a fire ends before it.
            const bool end =
                !ends_.empty() && (fires_.empty() || ends_.top().at <= fires_.top().at);
            const TimePoint at = end ? ends_.top().at : fires_.top().at;
            if (at >= books_.to) break;
            end ? TakeEnd() : TakeFire();
            const bool too_many = max_fires_ > 0 && fires_made_ > max_fires_;
            if (ready_.size() > kMaxWaiting || too_many || IsStopped()) {
                answer_.complete = false;
                break;
            }
        }
        Close();
        return answer_;
    }

  private:
    struct FireEvent {
        TimePoint at;  // with jitter
        std::size_t group;
        TimePoint nominal;
        bool operator>(const FireEvent& other) const {
            return std::tie(at, group) > std::tie(other.at, other.group);
        }
    };
    struct EndEvent {
        TimePoint at;
        TimePoint began;
        std::size_t job;
        std::int64_t turn;
        bool operator>(const EndEvent& other) const {
            return std::tie(at, job, turn) > std::tie(other.at, other.job, other.turn);
        }
    };
    struct Ready {
        TimePoint since;
        std::size_t job;
    };
    struct Lane {
        int under_way = 0;
        int blocked = 0;
        int ready = 0;
        // Incremented when the running run is cancelled, which invalidates its EndEvent.
        std::int64_t turn = 0;
        TimePoint began{};                 // of the last started run
        std::deque<TimePoint> awaiting;    // since when runs wait for other jobs
        std::vector<std::size_t> arrived;  // the jobs that have ended since its last fire
    };

    bool IsStopped() { return ++events_ % kEventsBetweenLooks == 0 && stopped_ && stopped_(); }

    SimJobOutcome& OutcomeOf(std::size_t job) { return *jobs_[job].outcome; }

    void NextFire(std::size_t group, TimePoint after) {
        const SimJob& job = jobs_[groups_[group].front()];
        const auto next = job.schedule.Next(after);
        if (!next || *next >= books_.to) return;
        fires_.push({job.schedule.WithJitter(job.outcome->id, *next), group, *next});
    }

    void TakeFire() {
        const FireEvent fire = fires_.top();
        fires_.pop();
        NextFire(fire.group, fire.nominal);
        for (const std::size_t job : groups_[fire.group]) Fire(job, fire.at);
    }

    void Fire(std::size_t job, TimePoint at) {
        const Lane& lane = lanes_[job];
        SimJobOutcome& outcome = OutcomeOf(job);
        ++outcome.counts.fires;
        ++fires_made_;
        const int unfinished = Unfinished(lane);
        if (model::ExceedsQueueLimit(outcome.overlap, unfinished)) {
            Skip(job, at);
            return;
        }
        if (MustWait(job)) {
            Await(job, at);
            return;
        }
        MakeReady(job, at);
        Dispatch(at);
    }

    static int Unfinished(const Lane& lane) {
        return lane.under_way + lane.blocked + lane.ready + static_cast<int>(lane.awaiting.size());
    }

    // A job that has not run yet is taken to have succeeded before.
    bool MustWait(std::size_t job) const {
        if (links_.empty()) return false;
        return std::ranges::any_of(links_[job].waits_for, [this](std::size_t other) {
            return Unfinished(lanes_[other]) > 0;
        });
    }

    void Await(std::size_t job, TimePoint at) {
        SimJobOutcome& outcome = OutcomeOf(job);
        ++outcome.counts.queued;
        books_.examples.Add(SimExampleKind::kQueued, outcome.id, at);
        lanes_[job].awaiting.push_back(at);
    }

    // The run of `job` has ended: others may start or fire.
    void Tell(std::size_t job, TimePoint at) {
        if (links_.empty()) return;
        for (const std::size_t other : links_[job].dependants) Release(other, at);
        for (const std::size_t other : links_[job].followers) Arrive(other, job, at);
    }

    void Release(std::size_t job, TimePoint at) {
        Lane& lane = lanes_[job];
        while (!lane.awaiting.empty() && lane.awaiting.front() + links_[job].max_wait <= at) {
            lane.awaiting.pop_front();
            Skip(job, at);
        }
        if (MustWait(job)) return;
        for (; !lane.awaiting.empty(); lane.awaiting.pop_front()) MakeReady(job, at);
    }

    void Arrive(std::size_t job, std::size_t from, TimePoint at) {
        const SimLinks& links = links_[job];
        std::vector<std::size_t>& arrived = lanes_[job].arrived;
        if (std::ranges::find(arrived, from) == arrived.end()) arrived.push_back(from);
        if (!links.each && arrived.size() < links.follows.size()) return;
        arrived.clear();
        const schedule::ScheduleSpec& spec = jobs_[job].schedule.spec();
        if ((spec.start_at && at < *spec.start_at) || (spec.end_at && at > *spec.end_at)) return;
        Fire(job, at);
    }

    void TakeEnd() {
        const EndEvent end = ends_.top();
        ends_.pop();
        Lane& lane = lanes_[end.job];
        if (end.turn != lane.turn) return;  // cancelled before
        books_.load.Ran(end.began, end.at);
        --lane.under_way;
        ++free_;
        Unblock(end.job, end.at);
        Tell(end.job, end.at);
        Dispatch(end.at);
    }

    void Unblock(std::size_t job, TimePoint at) {
        Lane& lane = lanes_[job];
        if (lane.blocked == 0 || lane.under_way > 0) return;
        --lane.blocked;
        MakeReady(job, at);
    }

    void MakeReady(std::size_t job, TimePoint at) {
        ++lanes_[job].ready;
        ready_.push_back({at, job});
    }

    void Skip(std::size_t job, TimePoint at) {
        ++OutcomeOf(job).counts.skipped;
        books_.examples.Add(SimExampleKind::kSkipped, OutcomeOf(job).id, at);
    }

    // Starts ready runs while there are free slots.
    void Dispatch(TimePoint at) {
        while (free_ > 0 && !ready_.empty()) {
            const Ready next = ready_.front();
            ready_.pop_front();
            --lanes_[next.job].ready;
            Pass(next, at);
        }
        answer_.waits.max_waiting =
            std::max(answer_.waits.max_waiting, static_cast<std::int64_t>(ready_.size()));
    }

    void Pass(const Ready& next, TimePoint at) {
        Lane& lane = lanes_[next.job];
        SimJobOutcome& outcome = OutcomeOf(next.job);
        const auto verdict =
            lane.under_way == 0
                ? OverlapVerdict::kStart
                : model::DecideOverlap(outcome.overlap, lane.under_way, lane.blocked);
        switch (verdict) {
            case OverlapVerdict::kSkip:
                Skip(next.job, at);
                return;
            case OverlapVerdict::kQueue:
                ++outcome.counts.queued;
                ++lane.blocked;
                books_.examples.Add(SimExampleKind::kQueued, outcome.id, at);
                return;
            case OverlapVerdict::kCancelOthers:
                Cancel(next.job, at);
                break;
            case OverlapVerdict::kStart:
                break;
        }
        Start(next, at);
    }

    void Cancel(std::size_t job, TimePoint at) {
        Lane& lane = lanes_[job];
        SimJobOutcome& outcome = OutcomeOf(job);
        ++outcome.counts.cancelled;
        books_.examples.Add(SimExampleKind::kCancelled, outcome.id, lane.began);
        books_.load.Ran(lane.began, at);
        ++lane.turn;
        lane.under_way = 0;
        ++free_;
    }

    void Start(const Ready& next, TimePoint at) {
        Lane& lane = lanes_[next.job];
        SimJobOutcome& outcome = OutcomeOf(next.job);
        --free_;
        ++lane.under_way;
        lane.began = at;
        ++outcome.counts.runs;
        books_.load.Start(at);
        ends_.push({at + outcome.duration, at, next.job, lane.turn});
        if (at > next.since) NoteWait(outcome, next.since, at);
    }

    void NoteWait(SimJobOutcome& outcome, TimePoint since, TimePoint at) {
        const Duration wait = at - since;
        outcome.longest_wait = std::max(outcome.longest_wait.value_or(wait), wait);
        waited_ += wait;
        SimWaits& waits = answer_.waits;
        ++waits.runs;
        if (wait <= waits.longest) return;
        waits.longest = wait;
        waits.longest_at = since;
    }

    void Close() {
        for (; !ends_.empty(); ends_.pop()) {
            const EndEvent& end = ends_.top();
            Lane& lane = lanes_[end.job];
            if (end.turn != lane.turn) continue;
            books_.load.Ran(end.began, std::min(end.at, books_.to));
            if (end.at <= books_.to) --lane.under_way;  // ends exactly with the window
        }
        for (std::size_t i = 0; i < lanes_.size(); ++i) {
            const Lane& lane = lanes_[i];
            OutcomeOf(i).counts.unfinished += Unfinished(lane);
        }
        if (answer_.waits.runs > 0) answer_.waits.average = waited_ / answer_.waits.runs;
    }

    template <class Event>
    using Queue = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

    std::span<const SimJob> jobs_;
    std::span<const SimGroup> groups_;
    SimResults& books_;
    std::int64_t free_;
    std::vector<Lane> lanes_;
    std::span<const SimLinks> links_;
    std::int64_t max_fires_;
    std::int64_t fires_made_ = 0;
    const std::function<bool()>& stopped_;
    std::int64_t events_ = 0;
    Queue<FireEvent> fires_;  // one per group
    Queue<EndEvent> ends_;    // at most one per slot, plus those of cancelled runs
    std::deque<Ready> ready_;
    Duration waited_{};
    SlotsAnswer answer_;
};

}  // namespace

SlotsAnswer SimulateSlots(const SlotsParams& params, SimResults& books) {
    return SlotWorld(params, books).Run();
}

}  // namespace ksana::insight
