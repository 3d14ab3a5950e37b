#include "sim/sim_tasks.hpp"

#include <fmt/core.h>

#include "ksana/base/ids/hash.hpp"

namespace ksana::sim {

using model::EventKind;
using model::NewTask;
using model::RunState;
using model::RunType;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr model::RunStates kWaiting =
    model::SetOf(RunState::kScheduled) | model::SetOf(RunState::kQueued);
constexpr model::RunStates kForPeople =
    model::SetOf(RunState::kHeld) | model::SetOf(RunState::kCompleting);

}  // namespace

Clerk::Clerk(World& world, store::Store& store, RunChecks& runs, TaskChecks& tasks,
             CallbackChecks& callbacks, int number, const ClerkSettings& settings)
    : world_(world),
      runs_(runs),
      tasks_(tasks),
      callbacks_(callbacks),
      number_(number),
      settings_(settings),
      door_(world, store, settings.door) {}

const std::vector<std::string>& Clerk::TypeCodes() {
    static const std::vector<std::string> kCodes = {"mail", "bill", "scan", "unknown"};
    return kCodes;
}

void Clerk::Note(const Uuid& id, std::string_view what, std::string_view outcome) {
    const model::Run* run = runs_.Find(id);
    const std::string story = run == nullptr ? id.ToString() : StoryOf(*run);
    world_.Note(story, HashText(what) ^ HashText(outcome),
                [&] { return fmt::format("clerk: {} {}: {}", what, id.ToString(), outcome); });
}

template <class F>
auto Clerk::Insist(const F& call) -> decltype(call()) {
    for (int tries = 0;; ++tries) {
        auto answer = call();
        const bool again = !answer && answer.error().code == Code::kUnavailable;
        if (!again || tries == 3 || world_.Chance(300)) return answer;
    }
}

void Clerk::Act() {
    door_.Use([this] { Choose(); });
}

void Clerk::Choose() {
    const std::uint64_t dice = world_.Below(100);
    const std::size_t tasks = Unfinished(model::kUnfinishedStates).size();
    if (dice < 60) {
        if (tasks >= settings_.most_tasks) return;
        return dice < 35 ? Submit() : SubmitOne();
    }
    if (dice < 66) return ChangeType(TypeCodes()[world_.Below(TypeCodes().size() - 1)]);
    if (dice < 67) return DeleteType();
    if (dice < 90) return CareForAny();
    if (dice < 94) return HoldAny();
    if (tasks_.unlucky().empty()) return;
    const Uuid over = tasks_.unlucky()[world_.Below(tasks_.unlucky().size())];
    if (dice < 98) return MakeAgain(over);
    Delete(over);
}

std::optional<model::RetryPolicy> Clerk::MakeRetry() {
    if (world_.Chance(400)) return std::nullopt;
    model::RetryPolicy retry;
    retry.strategy = static_cast<model::RetryStrategy>(world_.Below(4));
    retry.max_retries = static_cast<int>(world_.Below(4));
    retry.interval = world_.Between(seconds(1), seconds(20));
    retry.max_interval = minutes(1);
    if (retry.strategy == model::RetryStrategy::kSequence) {
        retry.sequence = {retry.interval, retry.interval * 2};
    }
    if (world_.Chance(200)) retry.jitter = 0.5;
    return retry;
}

// All tasks share a few keys, so that they compete for them.
NewTask Clerk::MakeTask() {
    NewTask task;
    task.type = TypeCodes()[world_.Below(TypeCodes().size())];
    task.payload = fmt::format(R"({{"task":"{}-{}"}})", number_, ++last_task_);
    if (world_.Chance(700)) task.id = door_.ids().Next();
    task.priority = static_cast<int>(world_.Below(10));
    if (world_.Chance(200)) task.delay = world_.Between({}, minutes(2));
    if (!task.delay && world_.Chance(200)) {
        task.start_at = world_.store_clock().Now() + world_.Between(-minutes(1), minutes(2));
    }
    if (world_.Chance(300)) {
        task.unique.key = fmt::format("key-{}", world_.Below(3));
        const std::uint64_t dice = world_.Below(10);
        if (dice < 2) task.unique.states = kWaiting;
        if (dice == 2) task.unique.states = model::kAllStates;
        if (dice == 2 || dice > 7) task.unique.period = world_.Between(seconds(1), minutes(2));
    }
    if (!settings_.published.empty() && world_.Chance(400)) task.type = settings_.published;
    if (!settings_.published.empty() && task.type == settings_.published) {
        task.category = settings_.category;
    } else if (world_.Chance(150)) {
        task.selector = {{"place", world_.Chance(500) ? "here" : "there"}};
    }
    if (world_.Chance(300)) task.retry = MakeRetry();
    if (world_.Chance(300)) task.timeout = world_.Between(seconds(2), seconds(40));
    if (world_.Chance(200)) task.need_manual = world_.Chance(500);
    return task;
}

void Clerk::Submit() {
    std::vector<NewTask> tasks(1 + world_.Below(4));
    for (NewTask& task : tasks) {
        task = MakeTask();
        tasks_.Submitting(task);
    }
    const auto outcomes = Insist([&] { return door_.tasks().Submit(tasks); });
    for (std::size_t n = 0; outcomes && n < tasks.size(); ++n) {
        tasks_.Acknowledged(tasks[n], outcomes->at(n));
    }
}

void Clerk::SubmitOne() {
    const NewTask task = MakeTask();
    tasks_.Submitting(task);
    const auto outcome = Insist([&] { return door_.tasks().SubmitOne(task); });
    if (outcome) tasks_.Acknowledged(task, *outcome);
}

RunType Clerk::MakeType(const std::string& code) {
    RunType type;
    type.code = code;
    type.retry = MakeRetry();
    if (world_.Chance(500)) type.timeout = world_.Between(seconds(5), seconds(60));
    type.need_manual = world_.Chance(300);
    const std::string host = "http://127.0.0.2/" + code;
    if (world_.Chance(600)) type.callbacks.success.url = host + "/done";
    if (world_.Chance(500)) type.callbacks.error.url = host + "/failed";
    if (world_.Chance(200)) {
        type.callbacks.security = model::CallbackSecurity::kAkSk;
        type.callbacks.access_key = "access";
        type.callbacks.secret_key = "secret";
    }
    return type;
}

void Clerk::MakeTypes() {
    door_.Use([this] {
        for (std::size_t n = 0; n + 1 < TypeCodes().size(); ++n) ChangeType(TypeCodes()[n]);
    });
}

void Clerk::ChangeType(const std::string& code) {
    const RunType type = MakeType(code);
    tasks_.TypeMayBe(type);
    const auto changed = Insist([&] {
        return door_.types().Change(code, [&](const auto&) -> Result<RunType> { return type; });
    });
    Note({}, "changes type " + code, changed ? "ok" : changed.error().message);
}

void Clerk::DeleteType() {
    const std::string& code = TypeCodes()[world_.Below(TypeCodes().size() - 1)];
    const auto deleted = Insist(
        [&] { return door_.types().Delete(code, [](const auto&) -> Result<void> { return {}; }); });
    Note({}, "deletes type " + code, deleted ? "ok" : deleted.error().message);
}

std::vector<Uuid> Clerk::Unfinished(model::RunStates states) const {
    std::vector<Uuid> found;
    for (const Uuid& id : runs_.unfinished()) {
        const model::Run& run = *runs_.Find(id);
        const bool ours =
            run.kind == model::ActionKind::kQueue || run.trigger == model::RunTrigger::kCallback;
        if (ours && (states & model::SetOf(run.status.state)) != 0) found.push_back(id);
    }
    return found;
}

void Clerk::CareForAny() {
    const std::vector<Uuid> waiting = Unfinished(kForPeople);
    if (!waiting.empty()) CareFor(waiting[world_.Below(waiting.size())]);
}

// Closes held runs or sends them back. A run whose callback was given up is closed, or gets another
// callback; while its callback is under way it is mostly left alone.
void Clerk::CareFor(const Uuid& id) {
    const model::Run* run = runs_.Find(id);
    if (run->status.state == RunState::kHeld) {
        return Do(id, world_.Chance(400) ? EventKind::kResolve : EventKind::kSendBack);
    }
    if (run->status.state != RunState::kCompleting) return;
    const Uuid* callback = callbacks_.LastOf(id);
    const model::Run* sent = callback == nullptr ? nullptr : runs_.Find(*callback);
    if (sent != nullptr && !model::IsFinal(sent->status.state)) {
        if (!door_.healed() && world_.Chance(50)) Do(id, EventKind::kResolve);
        return;
    }
    if (sent == nullptr || world_.Chance(500)) return Do(id, EventKind::kResolve);
    MakeAgain(*callback);
}

void Clerk::HoldAny() {
    const std::vector<Uuid> waiting = Unfinished(kWaiting);
    if (!waiting.empty()) Do(waiting[world_.Below(waiting.size())], EventKind::kHold);
}

void Clerk::Do(const Uuid& id, EventKind kind) {
    tasks_.Wants(id, kind);
    const auto done = Insist([&]() -> Result<model::Run> {
        if (kind == EventKind::kResolve) return door_.runs().Resolve(id, "seen to");
        if (kind == EventKind::kHold) return door_.runs().Hold(id, "wait");
        return door_.runs().SendBack(id, "once more");
    });
    Note(id, model::NameOf(kind), done ? "ok" : done.error().message);
    if (done) tasks_.Done(id, kind);
}

// Makes a new run from one that has ended, under an id that reveals a repeated call.
void Clerk::MakeAgain(const Uuid& id) {
    const Uuid new_id = door_.ids().Next();
    tasks_.MayMakeAgain(new_id, id);
    callbacks_.MaySendAgain(new_id, id);
    const auto made = Insist([&] { return door_.runs().Retry(id, new_id); });
    Note(id, "makes again", made ? "ok" : made.error().message);
    if (made) runs_.Submitted(made->id);
}

// For a fire the ledger would have to record the deletion, which FireChecks does not know.
void Clerk::Delete(const Uuid& id) {
    if (!runs_.Find(id)->job_id.empty()) return;
    const auto deleted = Insist([&] { return door_.runs().Delete(id); });
    Note(id, "deletes", deleted ? "ok" : deleted.error().message);
}

void Clerk::TidyUp() {
    door_.Use([this] {
        for (const Uuid& id : Unfinished(kForPeople)) CareFor(id);
    });
}

}  // namespace ksana::sim
