#include "sim/ledger_sim.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/model/job/plan.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/schedule/schedule.hpp"

namespace ksana::sim {
namespace {

using namespace model;
using schedule::Schedule;
using schedule::ScheduleKind;
using schedule::ScheduleSpec;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// One job, its plan, and the ledger of its fires.
struct SimJob {
    std::string id;
    Schedule schedule;
    Misfire misfire;
    RunPolicy policy;
    TimePoint planned_until;
    bool paused = false;
    std::set<TimePoint> fired;     // nominal times that became runs
    std::int64_t without_run = 0;  // fires in ranges
    // The same schedule without its calendar, walked from fire to fire: the expected content of the
    // ledger.
    Schedule bare;
    TimePoint walked_until;
    std::int64_t walked = 0;
    std::vector<Run> runs;
};

// A report of an owner, kept to be sent late or twice.
struct Report {
    std::size_t job;
    std::size_t run;
    Event event;
};

// One world: jobs, runs and their checks. Runs on one thread and stops at the first violation.
class World {
  public:
    World(std::uint64_t seed, Plant plant)
        : random_(seed), ids_(clock_, random_), plant_(plant), start_(clock_.Now()) {
        for (std::uint64_t n = 1 + random_.Below(4); n > 0; --n) AddJob(static_cast<int>(n));
    }

    SimReport Run() {
        for (int step = 0; step < 600 && !report_.violation; ++step) {
            Step();
            CheckLedger();
        }
        if (!report_.violation) Heal();
        report_.simulated_hours = (clock_.SteadyNow().time_since_epoch()) / hours(1);
        return report_;
    }

  private:
    bool Chance(std::uint64_t percent) { return random_.Below(100) < percent; }

    void Violation(std::string what) {
        if (!report_.violation) {
            report_.violation = fmt::format("{} at {}", what, FormatTime(clock_.Now()));
        }
    }

    // Weekends, a nightly window and a holiday; no swapped days, which would add fires.
    std::shared_ptr<const schedule::CalendarIndex> MakeCalendar() {
        schedule::Calendar calendar;
        calendar.name = "sim";
        if (Chance(50)) calendar.exclude.push_back({.weekdays = 0b1000001});
        if (Chance(50)) {
            const int from = static_cast<int>(random_.Below(24)) * 3600;
            calendar.exclude.push_back(
                {.times = schedule::CalendarRule::TimeSpan{from, (from + 7200) % 86'400}});
        }
        calendar.exclude.push_back(
            {.dates = schedule::CalendarRule::DateSpan{{2026, 1, 3}, {2026, 1, 6}}});
        return std::make_shared<const schedule::CalendarIndex>(calendar);
    }

    void AddJob(int n) {
        static constexpr const char* kCrons[] = {"*/7 * * * *",        "30 2 * * *",
                                                 "0 9-17 * * MON-FRI", "*/20 * * * * *",
                                                 "15 1,2,3 * * *",     "0 0 L * *"};
        static constexpr const char* kZones[] = {"UTC", "America/New_York", "Australia/Lord_Howe",
                                                 "Europe/London", "Asia/Shanghai"};
        ScheduleSpec spec;
        if (Chance(50)) {
            spec.kind = ScheduleKind::kEvery;
            spec.every = seconds(5 + random_.Below(7'200));
        } else {
            spec.kind = ScheduleKind::kCron;
            spec.cron = kCrons[random_.Below(std::size(kCrons))];
            spec.zone = kZones[random_.Below(std::size(kZones))];
            spec.dst.gap = static_cast<schedule::GapPolicy>(random_.Below(2));
            spec.dst.fold = static_cast<schedule::FoldPolicy>(random_.Below(3));
        }
        if (Chance(30)) spec.jitter = seconds(random_.Below(5));
        const Schedule bare = *Schedule::Compile(spec, {zones_, start_, {}});
        if (Chance(40)) spec.calendar = "sim";
        auto calendar = MakeCalendar();
        const auto find = [&calendar](std::string_view) { return calendar; };
        Misfire misfire{static_cast<MisfirePolicy>(random_.Below(3)),
                        1 + static_cast<int>(random_.Below(30)), seconds(random_.Below(60))};
        RunPolicy policy;
        policy.retry = {.strategy = static_cast<RetryStrategy>(random_.Below(4)),
                        .max_retries = static_cast<int>(random_.Below(4)),
                        .interval = seconds(1 + random_.Below(30)),
                        .sequence = {seconds(2), seconds(9)}};
        policy.need_manual = Chance(20);
        policy.success_callback = Chance(20);
        policy.timeout = seconds(60);
        jobs_.push_back({.id = fmt::format("job-{}", n),
                         .schedule = *Schedule::Compile(spec, {zones_, start_, find}),
                         .misfire = misfire,
                         .policy = policy,
                         .planned_until = start_,
                         .bare = bare,
                         .walked_until = start_});
    }

    void Step() {
        MoveTime();
        for (std::size_t j = 0; j < jobs_.size(); ++j) {
            if (Chance(3)) jobs_[j].paused = !jobs_[j].paused;
            if (!down_) PlanJob(jobs_[j]);
            for (std::size_t r = 0; r < jobs_[j].runs.size(); ++r) TouchRun(j, r);
        }
        SendLateReports();
    }

    void MoveTime() {
        if (Chance(2)) down_ = !down_;
        if (Chance(1)) clock_.JumpWall(hours(1) * (Chance(50) ? 1 : -1));
        clock_.Advance(down_ || Chance(5) ? Duration(minutes(random_.Below(600)))
                                          : Duration(seconds(1 + random_.Below(240))));
    }

    void PlanJob(SimJob& job) {
        PlanInput input{.job_id = job.id,
                        .planned_until = job.planned_until,
                        .paused = job.paused,
                        .misfire = job.misfire,
                        .now = clock_.Now(),
                        .look_ahead_until = clock_.Now() + seconds(random_.Below(30)),
                        .max_fires = 1 + random_.Below(20)};
        PlanResult result = Plan(job.schedule, input);
        if (plant_ == Plant::kLostFire && result.fires.size() > 2) result.fires.pop_back();
        for (const PlannedFire& fire : result.fires) {
            if (!job.fired.insert(fire.nominal).second) Violation("a fire became two runs");
            AddRun(job, fire);
        }
        for (const LedgerRange& range : result.ranges) job.without_run += range.range.count;
        // A node that crashed between its two writes and forgot how far it had planned.
        const bool forget = plant_ == Plant::kDoubleFire && Chance(5);
        if (!forget) job.planned_until = result.planned_until;
    }

    void AddRun(SimJob& job, const PlannedFire& fire) {
        // Finished runs are not needed any more; keeps the list short.
        std::erase_if(job.runs, [](const model::Run& run) { return IsFinal(run.status.state); });
        model::Run run;
        run.id = ids_.Next();
        run.job_id = job.id;
        run.nominal_at = fire.nominal;
        run.status.ready_at = fire.start_at;
        job.runs.push_back(std::move(run));
        ++report_.fires;
    }

    // Applies an event as a store would, and checks what must hold whatever was decided.
    model::EventVerdict Apply(std::size_t j, std::size_t r, Event event, bool stale) {
        SimJob& job = jobs_[j];
        model::Run& run = job.runs[r];
        if (plant_ == Plant::kMissingFence && stale) event.exec_id = run.status.exec_id;
        const RunStatus before = run.status;
        run.policy = job.policy;
        const Transition made = Decide(run, event, clock_.Now());
        if (plant_ == Plant::kForgottenRetry && made.verdict == model::EventVerdict::kApplied &&
            event.kind == EventKind::kRetryableFailure &&
            run.status.state == RunState::kScheduled && Chance(20)) {
            run.status.ready_at = TimePoint::max();
        }
        if (plant_ == Plant::kLostCancel && before.cancel_requested &&
            event.kind == EventKind::kShutdown && made.verdict == model::EventVerdict::kApplied) {
            run.status.state = RunState::kQueued;
            run.status.finished_at.reset();
        }
        if (made.verdict == model::EventVerdict::kApplied) CheckCancel(run, event.kind);
        if (made.verdict == model::EventVerdict::kApplied && stale)
            Violation("a stale report was accepted");
        if (made.verdict != model::EventVerdict::kApplied && run.status != before) {
            Violation("a refused event changed a run");
        }
        if (IsFinal(before.state) && run.status != before) Violation("a final run changed");
        if (run.status.fence < before.fence) Violation("a fence went back");
        if (run.status.failures > job.policy.retry.max_retries + 1) Violation("too many attempts");
        if (!before.outcome && run.status.outcome) ++report_.attempts;
        return made.verdict;
    }

    // After a cancellation was accepted, no new attempt may begin.
    void CheckCancel(const model::Run& run, EventKind kind) {
        if (kind == EventKind::kCancel) cancelled_.insert(run.id);
        if (kind == EventKind::kStart && cancelled_.contains(run.id)) {
            Violation("a cancelled run started again");
        }
    }

    void TouchRun(std::size_t j, std::size_t r) {
        const RunState state = jobs_[j].runs[r].status.state;
        if (state == RunState::kScheduled || state == RunState::kQueued) {
            if (Chance(2))
                Apply(j, r, {.kind = EventKind::kCancel}, false);
            else if (Chance(70))
                Start(j, r);
        } else if (state == RunState::kRunning) {
            EndAttempt(j, r);
        } else if (state == RunState::kCompleting) {
            Apply(j, r,
                  {.kind = Chance(50) ? EventKind::kCallbackDelivered : EventKind::kCallbackFailed},
                  false);
        } else if (state == RunState::kHeld && Chance(20)) {
            Apply(j, r, {.kind = Chance(50) ? EventKind::kResolve : EventKind::kSendBack}, false);
        }
    }

    void Start(std::size_t j, std::size_t r) {
        Apply(j, r,
              {.kind = EventKind::kStart,
               .exec_id = ids_.Next().ToString(),
               .owner = "w",
               .lease = seconds(30)},
              false);
    }

    void EndAttempt(std::size_t j, std::size_t r) {
        static constexpr EventKind kEnds[] = {
            EventKind::kSuccess,          EventKind::kSuccess,
            EventKind::kRetryableFailure, EventKind::kPermanentFailure,
            EventKind::kTimeout,          EventKind::kLostOwner,
            EventKind::kSnooze,           EventKind::kShutdown,
            EventKind::kProgress,         EventKind::kCancel};
        const std::string exec_id = jobs_[j].runs[r].status.exec_id;
        const EventKind kind = kEnds[random_.Below(std::size(kEnds))];
        // What a dead or slow owner may still send much later.
        if (Chance(30)) {
            late_.push_back({j, r, {.kind = EventKind::kSuccess, .exec_id = exec_id}});
            late_runs_.push_back(jobs_[j].runs[r].id);
        }
        Apply(j, r, {.kind = kind, .exec_id = exec_id, .error = "x", .after = seconds(5)}, false);
    }

    void SendLateReports() {
        for (std::size_t i = 0; i < late_.size(); ++i) {
            const Report& report = late_[i];
            SimJob& job = jobs_[report.job];
            const auto same = [this, i](const model::Run& run) { return run.id == late_runs_[i]; };
            const auto run = std::find_if(job.runs.begin(), job.runs.end(), same);
            if (run == job.runs.end()) continue;
            const bool current = run->status.state == RunState::kRunning &&
                                 run->status.exec_id == report.event.exec_id;
            if (current) continue;  // not late yet
            Apply(report.job, static_cast<std::size_t>(run - job.runs.begin()), report.event, true);
        }
        if (late_.size() > 50) {
            late_.clear();
            late_runs_.clear();
        }
    }

    // I16: ran + skipped + missed equals an independent count of the schedule.
    void CheckLedger() {
        for (SimJob& job : jobs_) {
            for (auto next = job.bare.Next(job.walked_until); next && *next <= job.planned_until;
                 next = job.bare.Next(job.walked_until)) {
                job.walked_until = *next;
                ++job.walked;
            }
            const auto accounted = static_cast<std::int64_t>(job.fired.size()) + job.without_run;
            if (accounted != job.walked) {
                Violation(fmt::format("{}: {} fires accounted for, {} expected", job.id, accounted,
                                      job.walked));
            }
        }
    }

    // Ends the faults; then everything must become final.
    void Heal() {
        down_ = false;
        for (int round = 0; round < 400; ++round) {
            clock_.Advance(minutes(10));
            for (std::size_t j = 0; j < jobs_.size(); ++j) {
                for (std::size_t r = 0; r < jobs_[j].runs.size(); ++r) HealRun(j, r);
            }
        }
        for (const SimJob& job : jobs_) {
            for (const model::Run& run : job.runs) {
                if (!IsFinal(run.status.state)) {
                    Violation(fmt::format("a run is {} for ever", NameOf(run.status.state)));
                }
            }
        }
    }

    void HealRun(std::size_t j, std::size_t r) {
        const RunStatus& status = jobs_[j].runs[r].status;
        switch (status.state) {
            case RunState::kScheduled:
            case RunState::kQueued:
                return Start(j, r);
            case RunState::kRunning:
                Apply(j, r, {.kind = EventKind::kSuccess, .exec_id = status.exec_id}, false);
                return;
            case RunState::kCompleting:
                Apply(j, r, {.kind = EventKind::kCallbackDelivered}, false);
                return;
            case RunState::kHeld:
                Apply(j, r, {.kind = EventKind::kResolve}, false);
                return;
            default:
                return;
        }
    }

    FakeClock clock_;
    SeededRandom random_;
    UuidGenerator ids_;
    schedule::ZoneDatabase zones_;
    Plant plant_;
    TimePoint start_;
    bool down_ = false;
    std::vector<SimJob> jobs_;
    std::set<Uuid> cancelled_;
    std::vector<Report> late_;
    std::vector<Uuid> late_runs_;  // parallel to late_, because positions change and ids do not
    SimReport report_;
};

}  // namespace

SimReport RunLedgerSim(std::uint64_t seed, Plant plant) { return World(seed, plant).Run(); }

}  // namespace ksana::sim
