#include "ksana/engine/plan/planner.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "ksana/base/error/check.hpp"
#include "ksana/base/log/log.hpp"

namespace ksana::engine {
namespace {

// The pause before queued runs are counted again after max_waiting was reached.
constexpr Duration kFullPause = std::chrono::seconds(1);

constexpr std::size_t kMaxKept = 20'000;

// The smallest batch, however little room there is.
constexpr std::size_t kLeastBatch = 50;
// The longest wait for room during a burst: most attempts in flight end sooner.
constexpr Duration kNoRoomPause = std::chrono::milliseconds(5);
// A batch is at most kGrowth times the previous one, or kFirstBatch: at the start of a burst,
// executors are idle until the first batch is stored.
constexpr std::size_t kGrowth = 4;
constexpr std::size_t kFirstBatch = 128;

}  // namespace

// Counting takes time proportional to the count, so it is done only when the limit may have been
// reached.
Result<bool> Planner::IsFull() {
    if (options_.max_waiting == 0) return false;
    if (!full_ && unseen_ < options_.max_waiting / 4) return false;
    KSANA_TRY(const std::vector<store::QueueDepth> depths, store_.runs().Depths());
    std::int64_t count = 0;
    for (const store::QueueDepth& depth : depths) {
        if (depth.state == model::RunState::kQueued) count += depth.count;
    }
    const bool full = count >= static_cast<std::int64_t>(options_.max_waiting);
    if (full != full_) {
        Log(full ? LogLevel::kWarn : LogLevel::kInfo,
            full ? "too many runs wait; nothing is planned until there are fewer"
                 : "planning goes on",
            {{"waiting", count}});
    }
    full_ = full;
    unseen_ = 0;
    return full;
}

// A run that finds no room is stored as queued and claimed later: three writes instead of two. A
// node that has fallen behind would never catch up that way, so it plans no more than it can start,
// but at least kLeastBatch, because other nodes and agents start runs too. The first runs of a
// burst do not wait for the rest to be stored.
std::size_t Planner::BatchFor(std::size_t room) const {
    if (!IsBurst() && room < kLeastBatch) return options_.batch;
    const std::size_t grown = std::max(kFirstBatch, kGrowth * last_jobs_);
    const std::size_t most = std::min(options_.batch, grown);
    return std::clamp(room, std::min(kLeastBatch, most), most);
}

bool Planner::IsBurst() const { return more_ || plan_rate_.per_second() >= RateMeter::kMany; }

// Returns how long to wait for room; none: plan now, even without room.
std::optional<Duration> Planner::WaitForRoom(std::size_t room) {
    const SteadyPoint now = clock_.SteadyNow();
    if (!IsBurst() || room >= kLeastBatch) {
        no_room_since_.reset();
        return std::nullopt;
    }
    if (!no_room_since_) no_room_since_ = now;
    const auto left = *no_room_since_ + kNoRoomPause - now;
    if (left > SteadyPoint::duration::zero()) return std::chrono::ceil<Duration>(left);
    no_room_since_ = now;
    return std::nullopt;
}

// Up to a thousand runs per second small commits suffice; from there on the lookahead grows.
Duration Planner::Ahead() const {
    const double many = std::max(0.0, plan_rate_.per_second() - RateMeter::kMany);
    const auto ahead = Duration(static_cast<Duration::rep>(many * 50));
    return std::clamp(ahead, options_.least_ahead, options_.most_ahead);
}

Result<Planner::Answer> Planner::RunOnce(std::optional<store::StartAs> start) {
    KSANA_TRY(const bool full, IsFull());
    if (full) {
        Answer answer;
        answer.step.NotAfter(kFullPause);
        answer.full = true;
        return answer;
    }
    const std::size_t room = start ? start->limit : 0;
    if (const auto wait = WaitForRoom(room)) {
        Answer answer;
        answer.step.NotAfter(*wait);
        return answer;
    }
    ahead_ = Ahead();
    planned_at_ = clock_.Now();
    if (start) start->ahead = ahead_;
    const std::size_t batch = BatchFor(room);
    KSANA_TRY(
        store::Planned planned,
        store_.jobs().PlanDue(
            {.now = {}, .look_ahead = ahead_, .limit = batch, .start = std::move(start)},
            [&](const model::Job& job, TimePoint now) { return plans_.Plan(job, now, true); }));
    offset_.Note(planned_at_, clock_.Now(), planned.now);
    plan_rate_.Count(planned.runs, clock_.SteadyNow());
    more_ = planned.more;
    last_jobs_ = planned.jobs;
    Answer answer{.step = {.next = {}, .within = {}, .again = planned.more},
                  .jobs = planned.jobs,
                  .runs = planned.runs,
                  .skipped = planned.skipped,
                  .without_run = planned.without_run,
                  .started = {},
                  .store_offset = offset_.Least(),
                  .full = false};
    unseen_ += planned.runs - std::min(planned.runs, planned.skipped + planned.started.size());
    answer.started = AttemptsOf(planned);
    return answer;
}

std::vector<AttemptPointer> Planner::AttemptsOf(store::Planned& planned) {
    std::vector<AttemptPointer> attempts;
    attempts.reserve(planned.started.size());
    auto job = planned.of_started.begin();
    std::shared_ptr<const model::Job> shared;
    for (model::Run& run : planned.started) {
        if (!shared || shared->id != run.job_id) {
            job = std::ranges::find(job, planned.of_started.end(), run.job_id, &model::Job::id);
            KSANA_CHECK(job != planned.of_started.end(), "a fire was started without its job");
            shared = Share(*job);
        }
        attempts.push_back(MakeAttempt(std::move(run), shared));
    }
    return attempts;
}

// A `once` job fires once, so it is not cached.
std::shared_ptr<const model::Job> Planner::Share(model::Job& job) {
    if (job.schedule.kind == schedule::ScheduleKind::kOnce) {
        return std::make_shared<const model::Job>(std::move(job));
    }
    if (kept_.size() > kMaxKept) kept_.clear();
    std::shared_ptr<const model::Job>& kept = kept_[job.id];
    if (!kept || kept->state.version != job.state.version ||
        kept->state.created_at != job.state.created_at) {
        kept = std::make_shared<const model::Job>(std::move(job));
    }
    return kept;
}

Result<std::optional<TimePoint>> Planner::NextFire() {
    const TimePoint asked = clock_.Now();
    KSANA_TRY(const store::WakeTimes times, store_.runs().NextWake());
    offset_.Note(asked, clock_.Now(), times.now);  // faster than a commit, so a tighter bound
    if (!times.plan) return std::optional<TimePoint>();
    // With lookahead, the planner does not wake for each fire: fires within half of the lookahead
    // are planned together. This also keeps a job that was left until its time from being read over
    // and over.
    const TimePoint due = OnThisNode(*times.plan, times.now, clock_);
    return std::optional(std::min(due, std::max(due - ahead_, planned_at_ + ahead_ / 2)));
}

}  // namespace ksana::engine
