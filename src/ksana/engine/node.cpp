#include "ksana/engine/node.hpp"

#include <algorithm>

#include "ksana/base/log/log.hpp"
#include "ksana/engine/dispatch/direct_submit.hpp"
#include "ksana/engine/limits/limit_source.hpp"
#include "ksana/engine/loop_runner.hpp"
#include "ksana/engine/nodes/node_name.hpp"

namespace ksana::engine {
namespace {

// The number of running runs that Prepare examines for those of an earlier incarnation.
constexpr std::size_t kMaxLooked = 1'000'000;

// Forward clock jumps up to this do not delay reaping.
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
      limits_({.node_rate = options_.rate,
               .breaker = options_.breaker,
               .name = options_.name,
               .shared = options_.shared}),
      shares_(store, limits_, clock,
              {.owner = owner_,
               .waiting = [this] { return WaitingForLimits(); },
               .grown = [this] { WakeStarters(); }}),
      types_(store),
      follow_up_(MakeCallbackFollowUp(types_, options_.callbacks)),
      calendars_(store),
      schedules_(zones, [this](std::string_view name) { return calendars_.Find(name); }),
      workers_(store, clock, options_.worker_silence),
      agents_(clock),
      plans_(schedules_, [this](const std::string& code) { return types_.Find(code); },
             {.defaults = options_.defaults, .max_fires = 100, .workers = &workers_}),
      planner_(store, plans_, clock,
               {.least_ahead = options_.least_ahead,
                .most_ahead = options_.most_ahead,
                .batch = options_.plan_batch,
                .max_waiting = options_.max_waiting}),
      reaper_(store, clock, {.batch = 500, .follow_up = follow_up_}),
      store_locks_(store.locks()),
      locks_(options_.locks != nullptr ? *options_.locks : store_locks_),
      retention_(store, locks_, clock, RetentionOptions()),
      backfiller_(store, plans_, clock),
      clock_watch_(store, plans_, clock, {}),
      node_watch_(store, clock, WatchOptions()),
      calendar_watch_(store, calendars_, schedules_, plans_, clock,
                      {.wake =
                           [this] {
                               if (wake_) wake_(calendar_loop_);
                           }}),
      worker_watch_(store, workers_, agents_, clock,
                    {.grace = std::min(options_.worker_heartbeat, options_.worker_silence),
                     .follow_up = follow_up_}),
      reaper_jumps_(clock) {
    for (Executor* executor : executors) {
        const std::size_t place = dispatchers_.size();
        dispatchers_.push_back(std::make_unique<Dispatcher>(
            store, *executor, clock,
            Dispatcher::Options{.owner = owner_,
                                .lease = options_.lease,
                                .slots = options_.slots,
                                .batch = options_.claim_batch,
                                .late_start_rate = options_.late_start_rate,
                                .follow_up = follow_up_,
                                .wake =
                                    [this, place] {
                                        if (wake_) wake_(place);
                                    },
                                .wake_starter = [this] { WakeStarters(); },
                                .observer = observer,
                                .want_runs = options_.want_runs,
                                .limits = &limits_}));
    }
    if (options_.ids != nullptr) {
        alerter_ =
            std::make_unique<Alerter>(store, locks_, zones, clock, *options_.ids,
                                      Alerter::Options{.owner = LockOwner(),
                                                       .lock = std::chrono::seconds(20),
                                                       .scanner = {.settle = options_.settle},
                                                       .notices = options_.callbacks});
    }
    AddLoops();
    store_.MakeRunsWith([this](const model::Job& job) { return plans_.RunOf(job); });
    workers_.OnPreference([this] {
        if (wake_) wake_(worker_loop_);
    });
}

Node::~Node() { store_.MakeRunsWith({}); }

NodeWatch::Options Node::WatchOptions() {
    return {.self = {.name = options_.name,
                     .incarnation = options_.incarnation,
                     .version = options_.version,
                     .lease = options_.lease,
                     .started_at = clock_.Now()},
            .shared = options_.shared,
            .address = options_.address,
            .load =
                [this](model::ServerNode& self) {
                    const DispatchLoad load = Load();
                    self.slots = static_cast<std::int32_t>(load.slots);
                    self.busy = static_cast<std::int32_t>(load.busy);
                },
            .take_back = [this](const auto& owners) { return TakeBack(owners); }};
}

void Node::AnnounceStop() {
    node_watch_.SetStopping(true);
    if (node_loop_ && wake_) wake_(*node_loop_);
}

// Wakes the starters of all dispatchers: they share the limits, so capacity that one frees may be
// what another waits for.
void Node::WakeStarters() {
    if (!wake_) return;
    for (std::size_t n = 0; n < dispatchers_.size(); ++n) wake_(dispatchers_.size() + n);
}

void Node::WakeShares() {
    if (share_loop_ && wake_) wake_(*share_loop_);
}

Result<std::vector<store::Submitted>> Node::Submit(store::SubmitParams params) {
    for (const auto& dispatcher : dispatchers_) {
        const bool serves = std::ranges::all_of(
            params.runs, [&](const model::Run& run) { return run.kind == dispatcher->kind(); });
        if (serves) return SubmitAndStart(store_, *dispatcher, std::move(params));
    }
    return store_.runs().Submit(std::move(params));
}

// Dispatchers come first and starters second, so that their indexes are known before the other
// loops exist.
void Node::AddLoops() {
    for (const auto& dispatcher : dispatchers_) {
        Dispatcher* const one = dispatcher.get();
        loops_.push_back({.name = "dispatcher",
                          .topics = one->topic() | store::Topic::kCancel,
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
    reaper_loop_ = loops_.size();
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
             return ReadDocuments();
         }});
    calendar_loop_ = loops_.size();
    loops_.push_back({.name = "calendars",
                      .topics = store::Topic::kDocuments,
                      .hint =
                          [this](store::Topics) {
                              calendar_watch_.Hint();
                              return true;
                          },
                      .run_once = [this] { return calendar_watch_.RunOnce(); }});
    worker_loop_ = loops_.size();
    loops_.push_back({.name = "workers",
                      .topics = store::Topic::kWorkers,
                      .hint =
                          [this](store::Topics) {
                              worker_watch_.Hint();
                              return true;
                          },
                      .run_once = [this] { return worker_watch_.RunOnce(); }});
    if (options_.shared) AddClusterLoops();
    if (!alerter_) return;
    loops_.push_back({.name = "alerts",
                      .topics = store::Topic::kDocuments | store::Topic::kFinished,
                      .hint = [this](store::Topics topics) { return alerter_->Hint(topics); },
                      .run_once = [this] { return alerter_->RunOnce(); }});
}

// What only servers that share a store need.
void Node::AddClusterLoops() {
    node_loop_ = loops_.size();
    loops_.push_back({.name = "nodes",
                      .topics = store::Topic::kDocuments,
                      .hint =
                          [this](store::Topics) {
                              node_watch_.Hint();
                              return true;
                          },
                      .run_once = [this] { return node_watch_.RunOnce(); },
                      .while_draining = true});
    share_loop_ = loops_.size();
    limits_.OnShareNeed([this] { WakeShares(); });
    loops_.push_back({.name = "limit_shares",
                      .topics = store::Topic::kShares,
                      .hint = [this](store::Topics) { return shares_.Hint(); },
                      .run_once = [this] { return shares_.RunOnce(); },
                      .while_draining = true});
}

Result<void> Node::AwaitName(Clock& clock) const {
    if (!options_.shared || !options_.only_one) return {};
    return engine::AwaitName(store_, clock,
                             {.name = options_.name, .incarnation = options_.incarnation});
}

Result<void> Node::Prepare() {
    KSANA_TRY_VOID(types_.Refresh());
    KSANA_TRY_VOID(calendar_watch_.Refresh());
    KSANA_TRY_VOID(ReadLimits());
    KSANA_TRY_VOID(workers_.Refresh());
    KSANA_TRY(const std::vector<std::string> lost, LostOwners());
    if (!lost.empty()) KSANA_TRY_VOID(TakeBack(lost));
    return node_watch_.Join();
}

Result<void> Node::TakeBack(const std::vector<std::string>& owners) {
    for (bool more = true; more;) {
        KSANA_TRY(const Reaper::Answer answer, reaper_.RunOnce(owners));
        NoteReaped(answer.runs);
        more = answer.step.again;
    }
    return {};
}

void Node::NoteReaped(const std::vector<model::Run>& runs) {
    if (observer_ == nullptr) return;
    for (const model::Run& run : runs) observer_->Reaped(run);
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

// Reads the next fire before it writes, unless it already knows that a fire is due. Commits made
// during planning, mostly its own, need no wake-up: Plan reads the next fire again afterwards.
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
        dispatchers_.front()->Begin(
            answer ? std::move(answer->started) : std::vector<AttemptPointer>(), *start,
            answer ? answer->store_offset : Duration());
    }
    next_fire_.reset();
    if (!answer) return std::move(answer).error();
    if (answer->jobs > 0) clock_watch_.Planned(clock_.Now());
    NotePlanned(*answer);
    if (answer->step.again || answer->step.within) return answer->step;
    KSANA_TRY(next_fire_, planner_.NextFire());
    step.next = next_fire_;
    return step;
}

void Node::NotePlanned(const Planner::Answer& answer) {
    if (observer_ == nullptr) return;
    observer_->Planned(answer.jobs, answer.runs);
    if (answer.skipped > 0) observer_->Skipped(answer.skipped);
    for (std::size_t fate = 0; fate < answer.without_run.size(); ++fate) {
        const auto fires = static_cast<std::size_t>(answer.without_run.at(fate));
        if (fires > 0) observer_->NotRun(static_cast<model::FireFate>(fate), fires);
    }
}

// If the store uses this machine's clock and that clock is set forward, all leases seem expired at
// once. Live owners renew within a third of the lease, so reaping waits for one whole lease.
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
    reaps_at_ = SteadyPoint::max();  // this look may miss what starts from now on
    KSANA_TRY(Reaper::Answer answer, reaper_.RunOnce());
    NoteReaped(answer.runs);
    if (answer.step.next) {
        reaps_at_ = steady + std::max(*answer.step.next - clock_.Now(), Duration::zero());
    }
    return answer.step;
}

// Runs that this node executes are watched by its dispatchers. Of the others the reaper knows those
// that had started when it last looked; an expiry before its next look wakes it. It looks at least
// every kLongestSleep.
void Node::ReapWithin(Duration time) {
    if (time >= LoopRunner::kLongestSleep) return;
    if (wake_ && clock_.SteadyNow() + time < reaps_at_.load()) wake_(reaper_loop_);
}

// The token of this node's locks. A node that is the only one with its name keeps its locks over a
// restart.
std::string Node::LockOwner() const { return options_.only_one ? options_.name : owner_; }

Retention::Options Node::RetentionOptions() const {
    Retention::Options options = options_.retention;
    options.owner = LockOwner();
    return options;
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

Result<Step> Node::ReadDocuments() {
    KSANA_TRY_VOID(types_.Refresh());
    KSANA_TRY_VOID(ReadLimits());
    return Step{};
}

Result<void> Node::ReadLimits() {
    KSANA_TRY(const auto limits, engine::ReadLimits(store_));
    KSANA_TRY(const bool reset, ResetBreakers());
    if (!limits_.Configure(limits) && !reset) return {};
    for (const auto& dispatcher : dispatchers_) dispatcher->LimitsChanged();
    WakeShares();
    return {};
}

// Obeys resets of breakers that were stored since the last look. Returns whether there was one.
Result<bool> Node::ResetBreakers() {
    KSANA_TRY(auto resets, ReadBreakerResets(store_));
    bool any = false;
    for (const auto& [host, at] : resets) {
        const auto known = breaker_resets_.find(host);
        if (known != breaker_resets_.end() && known->second == at) continue;
        if (!limits_.ResetBreakers(host)) continue;
        any = true;
        Log(LogLevel::kInfo, "the breaker of a host was reset", {{"host", host}});
    }
    breaker_resets_ = std::move(resets);
    return any;
}

std::map<std::string, std::size_t> Node::WaitingForLimits() const {
    std::map<std::string, std::size_t> waiting;
    for (const auto& dispatcher : dispatchers_) {
        for (const auto& [key, count] : dispatcher->WaitingForLimits()) waiting[key] += count;
    }
    return waiting;
}

std::vector<LimitUse> Node::LimitUses() const {
    LimitUse own;
    own.limit.max_concurrency = static_cast<std::int32_t>(options_.slots);
    own.limit.rate = options_.rate;
    own.in_use = UnderWay();
    const std::map<std::string, std::size_t> waiting = WaitingForLimits();
    std::vector<LimitUse> uses = {own};
    for (LimitUse& use : limits_.Uses(clock_.SteadyNow())) {
        const auto found = waiting.find(LimitKey(use.kind, use.name));
        if (found != waiting.end()) use.waiting = found->second;
        if (use.share) use.share->owner = owner_;
        uses.push_back(std::move(use));
    }
    return uses;
}

GroupUse Node::UseOfGroup(const std::string& group) const {
    GroupUse use;
    for (const auto& dispatcher : dispatchers_) {
        const GroupUse one = dispatcher->UseOfGroup(group);
        use.under_way += one.under_way;
        use.waiting += one.waiting;
    }
    return use;
}

void Node::Open() {
    node_watch_.SetStopping(false);
    for (const auto& dispatcher : dispatchers_) dispatcher->Open();
}

void Node::Close() {
    for (const auto& dispatcher : dispatchers_) dispatcher->Close();
    AnnounceStop();
}

void Node::StopAll() {
    for (const auto& dispatcher : dispatchers_) dispatcher->StopAll();
}

void Node::Abandon() {
    for (const auto& dispatcher : dispatchers_) dispatcher->Abandon();
}

void Node::LeaveShares() {
    if (share_loop_) shares_.Leave();
}

bool Node::Idle() const {
    return std::ranges::all_of(dispatchers_, [](const auto& one) { return one->Idle(); });
}

std::size_t Node::UnderWay() const {
    std::size_t count = 0;
    for (const auto& dispatcher : dispatchers_) count += dispatcher->UnderWay();
    return count;
}

DispatchLoad Node::Load() const {
    DispatchLoad load;
    for (const auto& dispatcher : dispatchers_) {
        const DispatchLoad one = dispatcher->Load();
        load.slots += one.slots;
        load.busy += one.busy;
        load.starts_held_back = load.starts_held_back || one.starts_held_back;
    }
    return load;
}

}  // namespace ksana::engine
