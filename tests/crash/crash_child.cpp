// The process that tests/crash/crash.py kills. `work` changes a store and writes one line per
// change to standard output, only after the store has answered: what was acknowledged and what
// failed. `check` reads those lines back and compares them with the content of the reopened store.
#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "crash/open_driver.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/base/time/clock.hpp"

namespace ksana::crash {
namespace {

using model::EventKind;

constexpr TimePoint kStart{std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)};

// One write per line, so that lines of several threads do not mix and no line is incomplete.
void Say(const std::string& line) {
    const std::string text = line + "\n";
    if (::write(STDOUT_FILENO, text.data(), text.size()) < 0) std::_Exit(3);
}

// Returns the name that a step gives to a job.
std::string NameOf(std::int64_t step) { return fmt::format("version {}", step); }

model::Run MakeRun(UuidGenerator& ids) {
    model::Run run;
    run.id = ids.Next();
    run.type = "t";
    run.payload.assign(300, 'p');
    run.status.ready_at = kStart;
    return run;
}

// One thread of changes, with every kind of transaction. Also writes a line for each error: a
// failed change must not be in the store.
class Changer {
  public:
    Changer(store::Store& store, UuidGenerator& ids, int thread)
        : store_(store), ids_(ids), thread_(thread) {}

    void Step(int step) {
        switch (step % 4) {
            case 0:
                return EditJob(step);
            case 1:
                return SubmitRun();
            case 2:
                return Plan(step);
            default:
                return FinishRun();
        }
    }

  private:
    // A failed change is not in the store, unless the store says that the outcome is unknown.
    static std::string_view Failure(const Error& error) {
        return error.message.find("unknown") == std::string::npos ? "failed" : "unknown";
    }

    void EditJob(int step) {
        model::Job job;
        job.id = fmt::format("job-{}-{}", ::getpid(), thread_);
        job.name = NameOf(step);
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = std::chrono::minutes(1);
        job.state.planned_until = kStart;
        job.state.next_run_at = kStart + std::chrono::minutes(1);
        auto written = store_.jobs().Write(
            {.now = kStart, .writes = {{.job = job, .mode = store::WriteMode::kUpsert}}});
        if (written && written->at(0)) {
            Say(fmt::format("job {} {}", job.id, written->at(0)->state.version));
        } else if (written || Failure(written.error()) == "failed") {
            Say(fmt::format("refused {} {}", job.id, step));
        } else {
            Say(fmt::format("unknown {} {}", job.id, step));
        }
    }

    void SubmitRun() {
        const model::Run run = MakeRun(ids_);
        const auto outcome = store_.runs().Submit({.now = kStart, .runs = {run}});
        Say(fmt::format("{} {}", outcome ? "run" : Failure(outcome.error()), run.id.ToString()));
    }

    // In each step the next minute of every job is due.
    void Plan(int step) {
        const TimePoint now = kStart + std::chrono::minutes(step);
        std::map<std::string, TimePoint> until;
        const auto planner = [&](const model::Job& job, TimePoint) {
            store::JobPlan plan{.planned_until = now};
            TimePoint next = *job.state.next_run_at;
            for (; next <= now; next += std::chrono::minutes(1)) {
                model::Run run = MakeRun(ids_);
                run.kind = model::ActionKind::kHttp;
                run.nominal_at = next;
                run.status.ready_at = next;
                plan.runs.push_back(std::move(run));
            }
            plan.next_run_at = next;
            until[job.id] = now;
            return plan;
        };
        if (!store_.jobs().PlanDue({.now = now}, planner)) return Say("refused plan");
        for (const auto& [job, at] : until) {
            Say(fmt::format("planned {} {}", job, (at - kStart).count()));
        }
    }

    void FinishRun() {
        const auto claimed = store_.runs().Claim({.owner = "w"}, kStart);
        if (!claimed) return Say("refused claim");
        if (claimed->runs.empty()) return;
        const model::Run& run = claimed->runs[0];
        Say(fmt::format("started {} {}", run.id.ToString(), run.status.fence));
        const auto applied = store_.runs().Apply(
            {{run.id, {.kind = EventKind::kSuccess, .exec_id = run.status.exec_id}}}, kStart);
        if (applied && applied->at(0).verdict == model::EventVerdict::kApplied) {
            Say(fmt::format("done {}", run.id.ToString()));
        }
    }

    store::Store& store_;
    UuidGenerator& ids_;
    int thread_;
};

int Work(store::Store& store, UuidGenerator& ids, int threads, int steps) {
    Say("open");
    std::vector<std::jthread> running;
    for (int thread = 0; thread < threads; ++thread) {
        running.emplace_back([&, thread] {
            Changer changer(store, ids, thread);
            for (int step = 0; step < steps; ++step) changer.Step(step);
        });
    }
    running.clear();
    Say("end");
    return 0;
}

// Compares acknowledged changes with the content of the store.
class Checker {
  public:
    explicit Checker(store::Store& store) : store_(store) {}

    int Check(std::istream& lines) {
        std::string line;
        while (std::getline(lines, line)) {
            std::istringstream words(line);
            std::string what;
            std::string id;
            std::int64_t number = 0;
            words >> what >> id >> number;
            CheckLine(what, id, number);
            ++lines_;
        }
        CheckFires();
        fmt::print("{} lines checked, {} wrong\n", lines_, wrong_);
        return wrong_ == 0 ? 0 : 1;
    }

  private:
    void Wrong(const std::string& what) {
        ++wrong_;
        fmt::print("{}\n", what);
    }

    void CheckLine(const std::string& what, const std::string& id, std::int64_t number) {
        if (what == "job") {
            const auto job = store_.jobs().Get(id);
            if (!job || job->state.version < number) Wrong(fmt::format("lost: {} {}", id, number));
        } else if (what == "refused") {
            const auto job = store_.jobs().Get(id);
            if (job && job->name == NameOf(number)) {
                Wrong(fmt::format("refused, but there: {} {}", id, number));
            }
        } else if (what == "planned") {
            const auto job = store_.jobs().Get(id);
            if (!job || job->state.planned_until < kStart + Duration(number)) {
                Wrong(fmt::format("planned_until went back: {}", id));
            }
        } else if (what == "run" || what == "started" || what == "done" || what == "failed") {
            CheckRun(what, id, number);
        }
    }

    void CheckRun(const std::string& what, const std::string& id, std::int64_t number) {
        const auto run = store_.runs().Get(Uuid::Parse(id).value_or(Uuid{}));
        if (what == "failed") {
            if (run) Wrong(fmt::format("refused, but there: {}", id));
            return;
        }
        if (!run) return Wrong(fmt::format("lost: run {}", id));
        const model::RunStatus& status = run->run.status;
        if (what == "started" && status.fence < number) Wrong(fmt::format("unstarted: {}", id));
        if (what == "done" && status.state != model::RunState::kSucceeded) {
            Wrong(fmt::format("undone: {}", id));
        }
    }

    // Checks that no (job, nominal time) occurs twice and that none of a planned range is missing.
    void CheckFires() {
        std::set<std::pair<std::string, TimePoint>> fires;
        store::RunQuery query{.limit = 1'000};
        do {
            const auto page = store_.runs().List(query);
            if (!page) return Wrong(page.error().Describe());
            for (const model::Run& run : page->items) {
                if (run.nominal_at && !fires.emplace(run.job_id, *run.nominal_at).second) {
                    Wrong(fmt::format("double fire of {}", run.job_id));
                }
            }
            query.cursor = page->next;
        } while (!query.cursor.empty());
        const auto jobs = store_.jobs().List({.limit = 1'000});
        if (!jobs) return Wrong(jobs.error().Describe());
        for (const model::Job& job : jobs->items) {
            for (TimePoint at = kStart + std::chrono::minutes(1); at <= job.state.planned_until;
                 at += std::chrono::minutes(1)) {
                if (!fires.contains({job.id, at})) Wrong(fmt::format("fire lost: {}", job.id));
            }
        }
    }

    store::Store& store_;
    int lines_ = 0;
    int wrong_ = 0;
};

int Main(int count, char** words) {
    if (count < 5) {
        fmt::print("usage: crash_child DRIVER PATH work THREADS STEPS | check FILE\n");
        return 2;
    }
    SystemClock clock;
    SystemRandom random;
    UuidGenerator ids(clock, random);
    auto store = OpenDriver(words[1], words[2], clock, random, ids);
    if (!store) {
        fmt::print("cannot open: {}\n", store.error().Describe());
        return 4;
    }
    if (std::string_view(words[3]) == "work" && count == 6) {
        return Work(**store, ids, std::stoi(words[4]), std::stoi(words[5]));
    }
    std::ifstream lines(words[4]);
    return Checker(**store).Check(lines);
}

}  // namespace
}  // namespace ksana::crash

int main(int count, char** words) { return ksana::crash::Main(count, words); }
