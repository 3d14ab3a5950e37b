#include "sim/sim_people.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "ksana/base/ids/hash.hpp"

namespace ksana::sim {

using model::Job;
using schedule::ScheduleKind;
using schedule::ScheduleSpec;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

Person::Person(World& world, store::Store& store, schedule::ZoneDatabase& zones, FireChecks& fires,
               RunChecks& runs, const PersonSettings& settings)
    : world_(world),
      fires_(fires),
      runs_(runs),
      settings_(settings),
      faults_(world.random().Next()),
      store_(store::MakeFaultyStore(store, faults_,
                                    [this](Duration delay) {
                                        world_.As(World::kNobody,
                                                  [&] { world_.RunUntil(world_.now() + delay); });
                                    })),
      ids_(world.store_clock(), world.random()),
      book_(zones, {}),
      plans_(book_, {}, {.defaults = {}, .max_fires = 100}),
      service_(*store_, plans_, zones, {}, ids_) {
    faults_.Randomly("", settings.faults);
}

void Person::Note(const std::string& job_id, std::string_view what, std::string_view outcome) {
    world_.Note(job_id, HashText(what) ^ HashText(outcome),
                [&] { return fmt::format("person: {}: {}", what, outcome); });
}

template <class F>
auto Person::Insist(const F& call) -> decltype(call()) {
    for (int tries = 0;; ++tries) {
        auto answer = call();
        const bool again = !answer && answer.error().code == Code::kUnavailable;
        if (!again || tries == 3 || world_.Chance(300)) return answer;
    }
}

// Does one thing at a time: returns if a slow call is in progress.
void Person::Act() {
    if (busy_) return;
    busy_ = true;
    world_.As(settings_.home, [this] { Choose(); });
    busy_ = false;
}

void Person::Choose() {
    const std::uint64_t dice = world_.Below(100);
    const std::size_t jobs = fires_.Ids().size();
    if (jobs == 0 || (dice < 25 && jobs < settings_.most_jobs)) return Create();
    if (dice < 60) return Change();
    if (dice < 68) return Delete();
    if (dice < 85) return RunNow();
    Cancel();
}

std::string Person::AnyJob() {
    const auto ids = fires_.Ids();
    return ids[world_.Below(ids.size())];
}

// Returns up to three jobs whose runs are kept, so that the checks know how these ended.
std::vector<std::string> Person::SomeParents(std::uint64_t chance) {
    std::vector<std::string> parents;
    const auto ids = fires_.Ids();
    if (ids.empty() || !world_.Chance(chance)) return parents;
    for (std::uint64_t n = world_.Below(3) + 1; n > 0; --n) {
        const std::string& id = ids[world_.Below(ids.size())];
        const Job* const job = fires_.Find(id);
        const bool named = std::ranges::find(parents, id) != parents.end();
        if (!named && job->run_log == model::RunLog::kFull) parents.push_back(id);
    }
    return parents;
}

ScheduleSpec Person::MakeSchedule() {
    static constexpr const char* kFast[] = {"*/10 * * * * *", "*/15 * * * * *", "5,35 * * * * *",
                                            "* * * * *"};
    static constexpr const char* kSlow[] = {"*/5 * * * *", "*/30 * * * *", "7,37 * * * *",
                                            "15 1,2,3 * * *"};
    static constexpr const char* kZones[] = {"UTC", "America/New_York", "Australia/Lord_Howe",
                                             "Europe/London"};
    ScheduleSpec spec;
    const std::uint64_t dice = world_.Below(100);
    const Duration pace = settings_.pace;
    if (auto parents = SomeParents(300); !parents.empty()) {
        spec.kind = ScheduleKind::kAfter;
        spec.jobs = std::move(parents);
        spec.on = static_cast<schedule::AfterOn>(world_.Below(3));
        spec.join = static_cast<schedule::AfterJoin>(world_.Below(2));
        return spec;
    }
    if (dice < 25) {
        spec.run_at = world_.store_clock().Now() + world_.Between(-pace * 6, pace * 60);
    } else if (dice < 65) {
        spec.kind = ScheduleKind::kEvery;
        spec.every = world_.Between(pace, pace * 20);
    } else {
        spec.kind = ScheduleKind::kCron;
        const bool fast = pace < seconds(30);
        spec.cron =
            fast ? kFast[world_.Below(std::size(kFast))] : kSlow[world_.Below(std::size(kSlow))];
        spec.zone = kZones[world_.Below(std::size(kZones))];
    }
    if (spec.kind != ScheduleKind::kOnce && world_.Chance(250)) {
        spec.jitter = world_.Between({}, pace / 2);
    }
    if (spec.kind == ScheduleKind::kEvery && world_.Chance(200)) {
        spec.start_at = world_.store_clock().Now() + world_.Between(-pace * 30, pace * 10);
    }
    if (spec.kind != ScheduleKind::kOnce && world_.Chance(100)) {
        spec.end_at = world_.store_clock().Now() + world_.Between(pace * 20, pace * 100);
    }
    return spec;
}

std::optional<model::RetryPolicy> Person::MakeRetry() {
    if (world_.Chance(200)) return std::nullopt;
    model::RetryPolicy retry;
    retry.strategy = static_cast<model::RetryStrategy>(world_.Below(4));
    retry.max_retries = static_cast<int>(world_.Below(4));
    retry.interval = world_.Between(seconds(1), seconds(30));
    retry.max_interval = minutes(2);
    if (retry.strategy == model::RetryStrategy::kSequence) {
        retry.sequence = {retry.interval, retry.interval * 3};
    }
    if (world_.Chance(200)) retry.jitter = 0.5;
    return retry;
}

// Most jobs call a target, the others make tasks for agents.
model::Action Person::MakeAction() {
    const model::HttpAction call{.url = "http://127.0.0.1/"};
    if (settings_.types.empty() || !world_.Chance(250)) return call;
    return model::QueueAction{.type = settings_.types[world_.Below(settings_.types.size())],
                              .category = {},
                              .payload = R"({"of":"a job"})"};
}

Job Person::MakeJob() {
    Job job;
    job.id = fmt::format("job-{}", ids_.Next().ToString().substr(24));
    job.name = "a job";
    if (world_.Chance(400)) job.group = "narrow";
    job.action = MakeAction();
    job.schedule = MakeSchedule();
    job.enabled = !world_.Chance(50);
    job.overlap = static_cast<model::OverlapPolicy>(world_.Below(5));
    job.misfire.policy = static_cast<model::MisfirePolicy>(world_.Below(3));
    job.misfire.max_runs = 1 + static_cast<int>(world_.Below(30));
    job.misfire.grace = world_.Between({}, seconds(20));
    job.retry = MakeRetry();
    job.timeout = world_.Between(seconds(2), seconds(40));
    job.stop_grace = world_.Between({}, seconds(20));
    job.priority = static_cast<int>(world_.Below(10));
    for (std::string& parent : SomeParents(300)) {
        job.depends_on.push_back(
            {std::move(parent), static_cast<model::OnDependencyFailure>(world_.Below(3))});
    }
    job.max_wait = world_.Between({}, minutes(2));
    const bool once = job.schedule.kind == ScheduleKind::kOnce;
    const bool calls = model::KindOf(job.action) == model::ActionKind::kHttp;
    if (!once && calls && world_.Chance(100))
        job.run_log = static_cast<model::RunLog>(1 + world_.Below(2));
    return job;
}

void Person::Create() {
    const Job job = MakeJob();
    const auto made = Insist([&] { return service_.Create(job); });
    Note(job.id, "create", made ? "ok" : made.error().message);
    if (made) fires_.Acknowledged(*made);
    // The first try had reached the store, and its answer was lost.
    if (!made && made.error().code == Code::kAlreadyExists) fires_.Acknowledged(job);
}

engine::JobService::Edit Person::MakeEdit() {
    const std::uint64_t dice = world_.Below(100);
    Job other = MakeJob();
    if (dice < 30) {
        return [](Job& job) -> Result<void> {
            job.enabled = !job.enabled;
            return {};
        };
    }
    if (dice < 60) {
        return [other](Job& job) -> Result<void> {
            job.schedule = other.schedule;
            job.run_log = model::RunLog::kFull;
            return {};
        };
    }
    return [other](Job& job) -> Result<void> {
        job.overlap = other.overlap;
        job.misfire = other.misfire;
        job.retry = other.retry;
        job.timeout = other.timeout;
        job.depends_on = other.depends_on;
        job.max_wait = other.max_wait;
        return {};
    };
}

void Person::Change() {
    const std::string id = AnyJob();
    const std::uint64_t dice = world_.Below(4);
    const auto edit = MakeEdit();
    const auto changed = Insist([&]() -> Result<Job> {
        if (dice == 0) return service_.Pause(id, "a person");
        if (dice == 1) return service_.Resume(id);
        return service_.Change(id, {}, edit);
    });
    Note(id, "change", changed ? "ok" : changed.error().message);
    if (changed) fires_.Acknowledged(*changed);
}

void Person::Delete() {
    const std::string id = AnyJob();
    fires_.MayGo(id);
    const auto deleted = Insist([&] { return service_.Delete(id, {}); });
    Note(id, "delete", deleted ? "ok" : deleted.error().message);
    if (deleted && fires_.Find(id) != nullptr) {
        world_.Fail(
            {.invariant = "I3", .what = "a deleted job is there", .job_id = id, .run_id = {}});
    }
}

void Person::RunNow() {
    const std::string id = AnyJob();
    const bool obeys = world_.Chance(500);
    const auto run = Insist([&] {
        return service_.RunNow(
            {.id = id, .parameters = {}, .obeys_overlap = obeys, .obeys_dependencies = obeys});
    });
    Note(id, "run now", run ? "ok" : run.error().message);
    if (run) runs_.Submitted(run->id);
}

void Person::Cancel() {
    const auto& unfinished = runs_.unfinished();
    if (unfinished.empty()) return;
    const Uuid id = *std::next(unfinished.begin(),
                               static_cast<std::ptrdiff_t>(world_.Below(unfinished.size())));
    runs_.CancelWanted(id);
    model::Event event;
    event.kind = model::EventKind::kCancel;
    const auto applied =
        Insist([&] { return store_->runs().Apply({{.run_id = id, .event = event}}); });
    Note({}, "cancel " + id.ToString(), applied ? "ok" : applied.error().message);
    if (applied && applied->at(0).verdict == model::EventVerdict::kApplied) runs_.CancelTaken(id);
}

void Person::PauseAll() {
    for (const std::string& id : fires_.Ids()) {
        const auto paused = service_.Pause(id, "the end");
        if (!paused && paused.error().code != Code::kNotFound) {
            world_.Fail({.invariant = "I13",
                         .what = "a job cannot be paused: " + paused.error().message,
                         .job_id = id,
                         .run_id = {}});
        }
    }
}

}  // namespace ksana::sim
