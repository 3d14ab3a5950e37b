#include "ksana/engine/node.hpp"

#include <algorithm>

#include "ksana/base/log.hpp"

namespace ksana::engine {
namespace {

// How many running runs are looked at for those of an earlier incarnation.
constexpr std::size_t kMaxLooked = 1'000'000;

// A clock that is set by less than this does no harm.
constexpr Duration kJump = std::chrono::seconds(5);

std::string PrefixOf(const NodeOptions& options) { return options.name + "/"; }

}  // namespace

Node::Node(store::Store& store, std::vector<Executor*> executors, schedule::ZoneDatabase& zones,
           const Clock& clock, NodeOptions options, Observer* observer)
    : store_(store),
      clock_(clock),
      options_(std::move(options)),
      observer_(observer),
      owner_(PrefixOf(options_) + options_.incarnation),
      types_(store),
      schedules_(zones, {}),
      plans_(schedules_, [this](const std::string& code) { return types_.Find(code); },
             {.defaults = options_.defaults, .max_fires = 100}),
      planner_(store, plans_, clock,
               {.least_ahead = options_.least_ahead,
                .most_ahead = options_.most_ahead,
                .batch = options_.plan_batch,
                .max_waiting = options_.max_waiting}),
      reaper_(store, clock, {.batch = 500, .follow_up = {}}),
      retention_(store, clock, options_.retention),
      backfiller_(store, plans_, clock),
      clock_watch_(store, plans_, clock, {}),
      reaper_jumps_(clock) {
    for (Executor* executor : executors) {
        const std::size_t place = dispatchers_.size();
        const std::size_t starter = executors.size() + place;
        dispatchers_.push_back(std::make_unique<Dispatcher>(
            store, *executor, clock,
            Dispatcher::Options{.owner = owner_,
                                .lease = options_.lease,
                                .slots = options_.slots,
                                .batch = options_.claim_batch,
                                .late_start_rate = options_.late_start_rate,
                                .follow_up = {},
                                .wake =
                                    [this, place] {
                                        if (wake_) wake_(place);
                                    },
                                .wake_starter =
                                    [this, starter] {
                                        if (wake_) wake_(starter);
                                    },
                                .observer = observer}));
    }
    AddLoops();
}

// The dispatchers come first, then what starts for them: their places are known before the others'.
void Node::AddLoops() {
    for (const auto& dispatcher : dispatchers_) {
        Dispatcher* const one = dispatcher.get();
        loops_.push_back({.name = "dispatcher",
                          .topics = store::Topic::kReady | store::Topic::kCancel,
                          .hint =
                              [one](store::Topics topics) {
                                  one->Hint(topics);
                                  return true;
                              },
                          .run_once = [one] { return one->RunOnce(); }});
    }
    for (const auto& dispatcher : dispatchers_) {
        Dispatcher* const one = dispatcher.get();
        loops_.push_back(
            {.name = "starter", .topics = {}, .hint = {}, .run_once = [one]() -> Result<Step> {
                 return one->StartDue();
             }});
    }
    loops_.push_back({.name = "planner",
                      .topics = store::Topic::kJobs,
                      .hint = [this](store::Topics) { return !planning_; },
                      .run_once = [this] { return Plan(); }});
    loops_.push_back(
        {.name = "reaper", .topics = {}, .hint = {}, .run_once = [this] { return Reap(); }});
    loops_.push_back(
        {.name = "retention", .topics = {}, .hint = {}, .run_once = [this] { return Retain(); }});
    loops_.push_back({.name = "backfill",
                      .topics = store::Topic::kDocuments | store::Topic::kFinished,
                      .hint = [this](store::Topics topics) { return backfiller_.Hint(topics); },
                      .run_once = [this] { return backfiller_.RunOnce(); }});
    loops_.push_back({.name = "clock_watch", .topics = {}, .hint = {}, .run_once = [this] {
                          return WatchClock();
                      }});
    loops_.push_back(
        {.name = "types", .topics = store::Topic::kDocuments, .hint = {}, .run_once = [this] {
             return ReadTypes();
         }});
}

Result<void> Node::Prepare() {
    KSANA_TRY_VOID(types_.Refresh());
    KSANA_TRY(const std::vector<std::string> lost, LostOwners());
    if (lost.empty()) return {};
    for (bool more = true; more;) {
        KSANA_TRY(const Reaper::Answer answer, reaper_.RunOnce(lost));
        more = answer.step.again;
    }
    return {};
}

Result<std::vector<std::string>> Node::LostOwners() {
    std::vector<std::string> lost;
    if (!options_.only_one) return lost;
    store::RunQuery query;
    query.filter.states = model::SetOf(model::RunState::kRunning);
    query.limit = store::kMaxPageSize;
    for (std::size_t looked = 0; looked < kMaxLooked; looked += query.limit) {
        KSANA_TRY(const store::Page<model::Run> page, store_.runs().List(query));
        for (const model::Run& run : page.items) {
            const std::string& owner = run.status.owner;
            if (owner.starts_with(PrefixOf(options_)) && owner != owner_) lost.push_back(owner);
        }
        query.cursor = page.next;
        if (page.next.empty()) break;
    }
    std::sort(lost.begin(), lost.end());
    lost.erase(std::unique(lost.begin(), lost.end()), lost.end());
    return lost;
}

// Looks before it writes, except when it knows that a fire is due. What is committed while it
// writes, by itself above all, need not wake it: it looks afterwards.
Result<Step> Node::Plan() {
    Step step;
    if (!next_fire_ || *next_fire_ > clock_.Now()) {
        KSANA_TRY(next_fire_, planner_.NextFire());
        if (!next_fire_) return step;
        step.next = next_fire_;
        if (*next_fire_ > clock_.Now()) return step;
    }
    std::optional<store::StartAs> start;
    if (!dispatchers_.empty()) start = dispatchers_.front()->Reserve();
    planning_ = true;
    auto answer = planner_.RunOnce(start && start->limit > 0 ? start : std::nullopt);
    planning_ = false;
    if (start) {
        dispatchers_.front()->Begin(answer ? std::move(answer->started) : std::vector<Task>(),
                                    *start, answer ? answer->store_offset : Duration());
    }
    next_fire_.reset();
    if (!answer) return std::move(answer).error();
    if (answer->jobs > 0) clock_watch_.Planned(clock_.Now());
    if (observer_ != nullptr) observer_->Planned(answer->jobs, answer->runs);
    if (answer->step.again || answer->step.within) return answer->step;
    KSANA_TRY(next_fire_, planner_.NextFire());
    step.next = next_fire_;
    return step;
}

// Where the store's clock is this machine's and is set forward, every lease seems to have run out
// at once. Those who live renew theirs within a third of it, so a whole one is waited.
Result<Step> Node::Reap() {
    const SteadyPoint steady = clock_.SteadyNow();
    if (reaper_jumps_.Take() > kJump) {
        Log(LogLevel::kWarn, "the wall clock was set forward; leases are given time to be renewed");
        no_reaping_until_ = steady + options_.lease;
    }
    if (no_reaping_until_ && steady < *no_reaping_until_) {
        Step step;
        step.NotAfter(std::chrono::ceil<Duration>(*no_reaping_until_ - steady));
        return step;
    }
    no_reaping_until_.reset();
    KSANA_TRY(const Reaper::Answer answer, reaper_.RunOnce());
    if (observer_ != nullptr) {
        for (const model::Run& run : answer.runs) observer_->Reaped(run);
    }
    return answer.step;
}

Result<Step> Node::Retain() {
    KSANA_TRY(const Retention::Answer answer, retention_.RunOnce());
    if (observer_ != nullptr && answer.runs > 0) observer_->Purged(answer.runs);
    return answer.step;
}

Result<Step> Node::WatchClock() {
    KSANA_TRY(const ClockWatch::Answer answer, clock_watch_.RunOnce());
    return answer.step;
}

Result<Step> Node::ReadTypes() {
    KSANA_TRY_VOID(types_.Refresh());
    return Step{};
}

void Node::Open() {
    for (const auto& dispatcher : dispatchers_) dispatcher->Open();
}

void Node::Close() {
    for (const auto& dispatcher : dispatchers_) dispatcher->Close();
}

void Node::StopAll() {
    for (const auto& dispatcher : dispatchers_) dispatcher->StopAll();
}

void Node::Abandon() {
    for (const auto& dispatcher : dispatchers_) dispatcher->Abandon();
}

bool Node::Idle() const {
    return std::ranges::all_of(dispatchers_, [](const auto& one) { return one->Idle(); });
}

std::size_t Node::UnderWay() const {
    std::size_t count = 0;
    for (const auto& dispatcher : dispatchers_) count += dispatcher->UnderWay();
    return count;
}

}  // namespace ksana::engine
