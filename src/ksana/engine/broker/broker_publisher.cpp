#include "ksana/engine/broker/broker_publisher.hpp"

#include <algorithm>
#include <stop_token>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/codec/records/wait_cause_codec.hpp"
#include "ksana/codec/v1/broker_codec.hpp"

namespace ksana::engine {
namespace {

using broker::PublishVerdict;
using model::RunEvent;

constexpr Duration kPublishTime = std::chrono::seconds(10);
constexpr Duration kPublisherPoll = std::chrono::seconds(60);
constexpr Duration kClaimFailedPause = std::chrono::seconds(1);
// How long a run that the broker did not take waits before it is claimed again, and how long no
// other of its type is claimed.
constexpr Duration kRefusedTaskPause = std::chrono::seconds(1);
constexpr std::size_t kMostPausedTypes = 1'000;
constexpr std::size_t kMostDirectives = 10'000;
// A few batches: those that were under way when the store failed.
constexpr std::size_t kMostOwed = 5'000;

RunEvent HandedOut(const model::Run& run, const std::string& queue, Duration wait) {
    return {.run_id = run.id,
            .event = {.kind = model::EventKind::kProgress,
                      .exec_id = run.status.exec_id,
                      .owner = std::string(model::kBrokerOwner),
                      .lease = wait,
                      .detail = codec::WaitCauseToDetail(
                          {.reason = model::WaitReason::kBroker, .key = queue}),
                      .not_begun = true}};
}

std::string_view WhyNot(PublishVerdict verdict) {
    switch (verdict) {
        case PublishVerdict::kRefused:
            return "the queue of the message broker is full";
        case PublishVerdict::kNoQueue:
            return "the queue of the message broker is gone";
        default:
            return "the message broker has not confirmed it";
    }
}

}  // namespace

// What polls bring. Shared with the poll that waits, which may outlive the publisher.
struct BrokerPublisher::Inbox {
    Mutex mutex;
    std::vector<model::Run> runs KSANA_GUARDED_BY(mutex);
    bool polling KSANA_GUARDED_BY(mutex) = false;
    bool failed KSANA_GUARDED_BY(mutex) = false;
    bool closed KSANA_GUARDED_BY(mutex) = false;  // no poll is to wait: there is no link
    std::function<void()> on_gone KSANA_GUARDED_BY(mutex);
    std::function<void()> nudge KSANA_GUARDED_BY(mutex);  // empty: there is no thread
    bool stopped KSANA_GUARDED_BY(mutex) = false;         // nobody looks into it any more

    // Returns false, and leaves the runs as they are, if the publisher has stopped.
    bool Take(std::vector<model::Run>& more, bool error) {
        const MutexLock lock(mutex);
        polling = false;
        on_gone = nullptr;
        if (stopped) return false;
        std::ranges::move(more, std::back_inserter(runs));
        failed = failed || error;
        if (nudge) nudge();
        return true;
    }
    // Ends the poll that waits: without a link its runs are for others.
    void Close() {
        std::function<void()> gone;
        {
            const MutexLock lock(mutex);
            closed = true;
            gone = std::exchange(on_gone, nullptr);
        }
        if (gone) gone();
    }
};

RunEvent BrokerPublisher::NotBegun(const model::Run& run, Duration after, std::string why) {
    return {.run_id = run.id,
            .event = {.kind = model::EventKind::kSnooze,
                      .exec_id = run.status.exec_id,
                      .owner = std::string(model::kBrokerOwner),
                      .error = std::move(why),
                      .after = after,
                      .not_begun = true}};
}

RunEvent BrokerPublisher::TakenBack(const model::Run& run, std::string why) {
    return {.run_id = run.id,
            .event = {.kind = model::EventKind::kShutdown,
                      .exec_id = run.status.exec_id,
                      .owner = std::string(model::kBrokerOwner),
                      .error = std::move(why)}};
}

// The poll of the publisher.
class BrokerPublisher::Client final : public PollClient {
  public:
    Client(std::shared_ptr<Inbox> inbox, AgentService& agents)
        : inbox_(std::move(inbox)), agents_(agents) {}

    void Send(std::vector<model::Run> runs) override {
        if (!inbox_->Take(runs, false)) agents_.GiveBack(runs);
    }
    void Fail(const Error& error) override {
        Log(LogLevel::kWarn, "no task can be claimed for the message broker, tries again",
            {{"error", error.Describe()}});
        std::vector<model::Run> none;
        inbox_->Take(none, true);
    }
    bool gone() const override {
        const MutexLock lock(inbox_->mutex);
        return inbox_->closed;
    }
    void OnGone(std::function<void()> callback) override {
        {
            const MutexLock lock(inbox_->mutex);
            if (!inbox_->closed) {
                inbox_->on_gone = std::move(callback);
                return;
            }
        }
        callback();
    }

  private:
    const std::shared_ptr<Inbox> inbox_;
    AgentService& agents_;
};

BrokerPublisher::BrokerPublisher(Options options, const Parts& parts)
    : options_(std::move(options)),
      parts_(parts),
      link_(parts.broker, parts.clock, parts.random, "ksana publisher",
            [this](broker::Link& link) { return Prepare(link); }),
      inbox_(std::make_shared<Inbox>()),
      thread_("publisher", [this](const std::stop_token& stop) { Run(stop); }) {}

BrokerPublisher::~BrokerPublisher() { Stop(); }

Result<void> BrokerPublisher::Start() {
    const MutexLock service(service_mutex_);
    {
        const MutexLock lock(inbox_->mutex);
        inbox_->nudge = [this] { link_.Nudge(); };
        inbox_->stopped = false;
    }
    return thread_.Start();
}

void BrokerPublisher::Stop() {
    const MutexLock service(service_mutex_);
    thread_.Stop();  // before the poll is ended: the thread might begin another one
    inbox_->Close();
    std::vector<model::Run> left;
    {
        const MutexLock lock(inbox_->mutex);
        inbox_->nudge = nullptr;
        inbox_->stopped = true;
        left.swap(inbox_->runs);
    }
    std::vector<RunEvent> reports = std::exchange(owed_, {});
    for (const model::Run& run : left) reports.push_back(NotBegun(run, {}, "the server stops"));
    Report(std::move(reports));
    owed_.clear();  // the reaper finds them
    link_.Close();
}

void BrokerPublisher::Run(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { link_.Nudge(); });
    while (!stop.stop_requested()) link_.WaitUntil(RunOnce(), stop);
}

SteadyPoint BrokerPublisher::RunOnce() {
    const SteadyPoint now = parts_.clock.SteadyNow();
    const broker::Link* const link = link_.Get();
    // Nothing is claimed that cannot be published: it is for those who fetch tasks.
    const bool blocked = link != nullptr && link->blocked();
    if (link == nullptr || blocked) inbox_->Close();
    std::vector<model::Run> runs;
    bool polling = false;
    {
        const MutexLock lock(inbox_->mutex);
        runs.swap(inbox_->runs);
        polling = inbox_->polling;
        if (std::exchange(inbox_->failed, false)) poll_at_ = now + kClaimFailedPause;
    }
    if (!runs.empty()) {
        Publish(std::move(runs));
    } else if (PayOwed() && link_.connected() && !blocked && !polling && poll_at_ <= now) {
        Poll({});
    }
    if (!link_.connected()) {
        return owed_.empty() ? link_.retry_at() : std::min(link_.retry_at(), poll_at_);
    }
    if (blocked) return now + kClaimFailedPause;
    SendNotices();
    if (sweep_at_ <= now && owed_.empty()) Sweep();
    {
        const MutexLock lock(inbox_->mutex);
        if (!inbox_->runs.empty()) return now;
        polling = inbox_->polling;
    }
    SteadyPoint next = owed_.empty() ? sweep_at_ : poll_at_;
    if (!polling) next = std::min(next, std::max(poll_at_, now));
    return next;
}

model::AgentClaim BrokerPublisher::ClaimNow() {
    const SteadyPoint now = parts_.clock.SteadyNow();
    std::erase_if(paused_, [now](const auto& entry) { return entry.second <= now; });
    model::AgentClaim claim{.worker = std::string(model::kBrokerOwner),
                            .categories = options_.categories,
                            .max = options_.batch,
                            .lease = options_.wait,
                            .wait = kPublisherPoll};
    for (const auto& [type, until] : paused_) claim.without.push_back(type);
    // A type that is paused is asked for again by the next poll.
    if (!paused_.empty()) claim.wait = kRefusedTaskPause;
    return claim;
}

// Reports and claims in one transaction; without a run the poll waits.
void BrokerPublisher::Poll(std::vector<RunEvent> reports) {
    AgentPoll poll{.claim = ClaimNow(), .client = std::make_unique<Client>(inbox_, parts_.agents)};
    {
        const MutexLock lock(inbox_->mutex);
        inbox_->closed = false;
        inbox_->polling = true;
    }
    std::optional<std::uint64_t> seen;
    if (!parts_.polls.OthersWait(poll.claim)) seen = parts_.polls.commits();
    const bool claims = seen.has_value() && !parts_.polls.draining();
    auto exchanged = parts_.agents.Exchange(
        reports, claims ? std::optional(poll.claim) : std::optional<model::AgentClaim>());
    if (!exchanged) {
        Owe(std::move(reports), exchanged.error());
        poll.client->Fail(exchanged.error());
        return;
    }
    // A server that is about to stop answers every poll at once.
    if (parts_.polls.draining()) poll_at_ = parts_.clock.SteadyNow() + kClaimFailedPause;
    parts_.polls.Settle(std::move(poll), std::move(exchanged->claimed.runs), seen);
}

// Makes the queues that are known, so that consumers find them before the first task. One that
// exists with other arguments is told when there is a task for it.
Result<void> BrokerPublisher::Prepare(broker::Link& link) {
    declared_.clear();
    abandoned_.clear();
    KSANA_TRY_VOID(link.Declare(parts_.queues.Dead()));
    std::vector<std::string> known = options_.categories;
    if (known.empty()) known.emplace_back();
    for (const std::string& category : known) {
        const auto there = link.Inspect(parts_.queues.Tasks(category).name);
        if (!there && there.error().code == Code::kNotFound) NoteGone(category);
        const auto declared = DeclareFor(link, category);
        if (!declared && declared.error().code != Code::kConflict) return declared.error();
    }
    return {};
}

Result<void> BrokerPublisher::DeclareFor(broker::Link& link, const std::string& category) {
    if (declared_.contains(category)) return {};
    KSANA_TRY_VOID(link.Declare(parts_.queues.Tasks(category)));
    declared_.insert(category);
    return {};
}

// The next sweep comes at once. What is noted from now on is in the queue that is made anew.
void BrokerPublisher::NoteGone(const std::string& category) {
    const auto now = parts_.store.Now();
    declared_.erase(category);
    gone_.insert_or_assign(category, now ? std::optional(*now) : std::nullopt);
    gone_cursor_.clear();
    sweep_at_ = {};
}

// Returns what became of each; `answered`: the messages were sent, so that a verdict that is
// unknown may mean either.
std::vector<PublishVerdict> BrokerPublisher::Send(const std::vector<model::Run>& runs,
                                                  bool& answered) {
    broker::Link* link = link_.Get();
    if (link != nullptr && link->blocked()) link = nullptr;
    std::vector<broker::OutMessage> messages;
    std::vector<PublishVerdict> verdicts(runs.size(), PublishVerdict::kUnknown);
    std::vector<std::size_t> sent;  // indexes in `runs`
    std::optional<Error> error;
    for (std::size_t i = 0; link != nullptr && !error && i < runs.size(); ++i) {
        const model::Run& run = runs[i];
        if (auto declared = DeclareFor(*link, run.category); !declared) {
            if (link_.Lose(declared.error())) {
                error = declared.error();
            } else {
                verdicts[i] = PublishVerdict::kNoQueue;
            }
            Log(LogLevel::kError, "a queue of the message broker cannot be used",
                {{"run_id", run.id.ToString()}, {"error", declared.error().Describe()}});
            continue;
        }
        messages.push_back({.queue = parts_.queues.Tasks(run.category).name,
                            .message = {.id = run.status.exec_id,
                                        .body = codec::TaskMessageToJson(run, options_.sampler),
                                        .priority = run.priority,
                                        .headers = {{"traceparent", model::TraceParentOf(
                                                                        run, options_.sampler)}}}});
        sent.push_back(i);
    }
    if (!error && !messages.empty()) {
        auto published = link->Publish(messages, kPublishTime);
        if (!published) {
            Log(LogLevel::kWarn, "tasks could not be published, they wait in the store",
                {{"runs", messages.size()}, {"error", published.error().Describe()}});
            link_.Lose(published.error());
        } else {
            for (std::size_t n = 0; n < sent.size(); ++n) {
                verdicts[sent[n]] = published->at(n);
                if (published->at(n) == PublishVerdict::kNoQueue) NoteGone(runs[sent[n]].category);
            }
            answered = true;
        }
    }
    return verdicts;
}

void BrokerPublisher::Publish(std::vector<model::Run> runs) {
    bool answered = false;
    const std::vector<PublishVerdict> verdicts = Send(runs, answered);
    std::vector<RunEvent> reports;
    reports.reserve(runs.size());
    std::set<std::string> refused;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (verdicts[i] == PublishVerdict::kStored) {
            ++counts_[kPublished];
            reports.push_back(
                HandedOut(runs[i], parts_.queues.Tasks(runs[i].category).name, options_.wait));
            continue;
        }
        const bool unknown = verdicts[i] == PublishVerdict::kUnknown;
        ++counts_.at(unknown ? kUnconfirmed : kRefused);
        if (!unknown) refused.insert(runs[i].type);
        if (verdicts[i] == PublishVerdict::kNoQueue) declared_.erase(runs[i].category);
        std::string why(WhyNot(verdicts[i]));
        reports.push_back(unknown && answered
                              ? TakenBack(runs[i], std::move(why))
                              : NotBegun(runs[i], kRefusedTaskPause, std::move(why)));
    }
    PauseTypes(refused);
    bool polling = false;
    {
        const MutexLock lock(inbox_->mutex);
        polling = inbox_->polling;
    }
    // A broker that does not answer is asked again later.
    const bool silent = std::ranges::find(verdicts, PublishVerdict::kUnknown) != verdicts.end();
    if (silent) poll_at_ = parts_.clock.SteadyNow() + kClaimFailedPause;
    if (polling || silent || !link_.connected()) return Report(std::move(reports));
    Poll(std::move(reports));
}

void BrokerPublisher::PauseTypes(const std::set<std::string>& types) {
    for (const std::string& type : types) {
        if (paused_.size() >= kMostPausedTypes) return;
        paused_[type] = parts_.clock.SteadyNow() + kRefusedTaskPause;
    }
}

void BrokerPublisher::Report(std::vector<RunEvent> reports) {
    if (reports.empty()) return;
    const auto taken = parts_.agents.Exchange(reports, {});
    if (!taken) Owe(std::move(reports), taken.error());
}

// What the store does not take now is reported again when it works, or is found by the reaper when
// the time of the messages is over.
void BrokerPublisher::Owe(std::vector<RunEvent> reports, const Error& error) {
    if (reports.empty()) return;
    const bool again = error.code != Code::kInvalidArgument && owed_.size() < kMostOwed;
    Log(LogLevel::kWarn, "what became of published tasks is not stored",
        {{"runs", reports.size()}, {"error", error.Describe()}});
    if (!again) return;
    std::ranges::move(reports, std::back_inserter(owed_));
    poll_at_ = parts_.clock.SteadyNow() + kClaimFailedPause;
}

// Returns whether nothing is owed any more.
bool BrokerPublisher::PayOwed() {
    if (!owed_.empty() && poll_at_ <= parts_.clock.SteadyNow()) Report(std::exchange(owed_, {}));
    return owed_.empty();
}

void BrokerPublisher::Tell(const std::string& owner, const Uuid& run_id, const std::string& exec_id,
                           std::string_view directive) {
    const std::string worker = owner.substr(0, owner.find('/'));
    {
        const MutexLock lock(notices_mutex_);
        if (notices_.size() >= kMostDirectives) return;
        notices_.push_back({parts_.queues.Worker(worker),
                            codec::DirectiveMessageToJson(run_id, exec_id, directive)});
    }
    link_.Nudge();
}

void BrokerPublisher::SendNotices() {
    std::deque<Notice> notices;
    {
        const MutexLock lock(notices_mutex_);
        notices.swap(notices_);
    }
    broker::Link* const link = link_.Get();
    if (notices.empty() || link == nullptr) return;
    std::vector<broker::OutMessage> messages;
    for (Notice& notice : notices) {
        messages.push_back({.queue = std::move(notice.queue),
                            .message = {.body = std::move(notice.text)},
                            .transient = true});
    }
    const auto sent = link->Publish(messages, kPublishTime);
    if (!sent) link_.Lose(sent.error());
}

bool BrokerPublisher::Publishes(const model::Run& run) const {
    const std::vector<std::string>& categories = options_.categories;
    const bool named =
        categories.empty() || std::ranges::find(categories, run.category) != categories.end();
    return run.kind == model::ActionKind::kQueue && run.selector.empty() && named;
}

BrokerPublisher::Counts BrokerPublisher::counts() const {
    return {.published = counts_[kPublished],
            .refused = counts_[kRefused],
            .unconfirmed = counts_[kUnconfirmed],
            .lost = counts_[kLost]};
}

}  // namespace ksana::engine
