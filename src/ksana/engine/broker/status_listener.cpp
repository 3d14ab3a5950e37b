#include "ksana/engine/broker/status_listener.hpp"

#include <algorithm>
#include <stop_token>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/codec/v1/broker_codec.hpp"

namespace ksana::engine {
namespace {

using model::EventKind;
using model::EventVerdict;

// Messages that are received at a time, and reports that are stored in one transaction.
constexpr std::size_t kStatusBatch = 500;
constexpr std::size_t kStatusPrefetch =
    2 * kStatusBatch;  // the next batch arrives while one is stored
constexpr Duration kListenerIdle = std::chrono::seconds(5);
constexpr Duration kFirstStorePause = std::chrono::milliseconds(100);
constexpr Duration kLongestStorePause = std::chrono::seconds(5);

enum StatusCount : std::size_t { kApplied, kStale, kConflict, kDead };

bool IsWrong(const Error& error) { return error.code == Code::kInvalidArgument; }

}  // namespace

StatusListener::StatusListener(const Parts& parts)
    : parts_(parts),
      link_(parts.broker, parts.clock, parts.random, "ksana listener",
            [this](broker::Link& link) { return Prepare(link); }),
      thread_("listener", [this](const std::stop_token& stop) { Run(stop); }) {}

StatusListener::~StatusListener() { Stop(); }

Result<void> StatusListener::Start() {
    const MutexLock service(service_mutex_);
    return thread_.Start();
}

void StatusListener::Stop() {
    const MutexLock service(service_mutex_);
    thread_.Stop();
    link_.Close();
    waiting_.clear();  // the broker delivers them to another node
}

void StatusListener::Run(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { link_.Nudge(); });
    while (!stop.stop_requested()) {
        const SteadyPoint next = RunOnce();
        // What has not been stored yet must not make the thread spin: more of it is there already.
        if (waiting_.empty()) {
            link_.WaitUntil(next, stop);
        } else {
            link_.PauseUntil(next, stop);
        }
    }
}

Result<void> StatusListener::Prepare(broker::Link& link) {
    waiting_.clear();
    KSANA_TRY_VOID(link.Declare(parts_.queues.Dead()));
    KSANA_TRY_VOID(link.Declare(parts_.queues.Status()));
    return link.Consume(parts_.queues.Status().name, kStatusPrefetch);
}

SteadyPoint StatusListener::RunOnce() {
    broker::Link* const link = link_.Get();
    if (link == nullptr) return link_.retry_at();
    const SteadyPoint now = parts_.clock.SteadyNow();
    if (now < again_at_) return again_at_;
    if (waiting_.empty() && !Receive(*link)) {
        return link_.connected() ? now + kListenerIdle : link_.retry_at();
    }
    const auto applied = ApplyWaiting(*link);
    if (!link_.connected()) return link_.retry_at();
    if (!applied) {
        const bool first = pause_ == Duration::zero();
        pause_ = first ? kFirstStorePause : std::min(2 * pause_, kLongestStorePause);
        again_at_ = now + pause_;
        if (first) {
            Log(LogLevel::kError, "reports of consumers cannot be stored, tries again",
                {{"reports", waiting_.size()}, {"error", applied.error().Describe()}});
        }
        return again_at_;
    }
    pause_ = Duration::zero();
    return now;  // there may be more
}

// Returns whether there is something to apply.
bool StatusListener::Receive(broker::Link& link) {
    auto deliveries = link.Receive(Duration::zero(), kStatusBatch);
    if (!deliveries) {
        // A consumer that the broker ended begins again with a new link.
        link_.Lose(Error(Code::kUnavailable, deliveries.error().message));
        return false;
    }
    std::vector<std::uint64_t> unreadable;
    for (const broker::Delivery& delivery : *deliveries) {
        auto events = codec::StatusMessageFromJson(delivery.message.body);
        if (events) {
            waiting_.push_back({delivery.tag, *std::move(events)});
            continue;
        }
        Log(LogLevel::kWarn, "a status message cannot be read, it goes to the dead letters",
            {{"message_id", delivery.message.id}, {"error", events.error().Describe()}});
        unreadable.push_back(delivery.tag);
    }
    if (!unreadable.empty()) {
        counts_[kDead] += unreadable.size();
        if (const auto rejected = link.Reject(unreadable, false); !rejected) {
            link_.Lose(rejected.error());
            return false;
        }
    }
    return !waiting_.empty();
}

// Applies the messages at the front, about kStatusBatch reports, in one transaction; or report by
// report if the store refuses what one of them says. The error is the store's; if the link breaks,
// what was stored is delivered again and recognised.
Result<void> StatusListener::ApplyWaiting(broker::Link& link) {
    std::size_t count = 0;
    for (std::size_t reports = 0; count < waiting_.size(); ++count) {
        reports += waiting_[count].events.size();
        if (count > 0 && reports > kStatusBatch) break;
    }
    auto applied = ApplyFirst(link, count);
    if (applied || !IsWrong(applied.error())) return applied;
    for (; count > 0 && link_.connected(); --count) KSANA_TRY_VOID(ApplyEach(link));
    return {};
}

// Applies each report of the first message by itself: one that is refused holds up no other. The
// message is removed unless the store fails.
Result<void> StatusListener::ApplyEach(broker::Link& link) {
    const Reports& message = waiting_.front();
    bool refused = false;
    for (const model::RunEvent& report : message.events) {
        const auto exchanged = parts_.agents.Exchange({report}, {});
        if (exchanged) {
            Note(report, exchanged->applied.front());
        } else if (IsWrong(exchanged.error())) {
            refused = true;
            Log(LogLevel::kWarn, "a report is refused, its message goes to the dead letters",
                {{"run_id", report.run_id.ToString()}, {"error", exchanged.error().Describe()}});
        } else {
            return exchanged.error();
        }
    }
    if (refused) ++counts_[kDead];
    const auto done = refused ? link.Reject({message.tag}, false) : link.Acknowledge({message.tag});
    if (!done) link_.Lose(done.error());
    waiting_.pop_front();
    return {};
}

// Applies the first messages, and removes them unless the store fails.
Result<void> StatusListener::ApplyFirst(broker::Link& link, std::size_t count) {
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<model::RunEvent> events;
    std::vector<std::uint64_t> tags;
    tags.reserve(count);
    for (auto message = waiting_.begin(); message != end; ++message) {
        events.insert(events.end(), message->events.begin(), message->events.end());
        tags.push_back(message->tag);
    }
    KSANA_TRY(const store::Exchanged exchanged, parts_.agents.Exchange(events, {}));
    for (std::size_t i = 0; i < events.size(); ++i) Note(events[i], exchanged.applied[i]);
    if (const auto done = link.Acknowledge(tags); !done) link_.Lose(done.error());
    waiting_.erase(waiting_.begin(), end);
    return {};
}

// A consumer that works in vain, or on what a user has cancelled, is told to stop.
void StatusListener::Note(const model::RunEvent& report, const store::Applied& applied) {
    const model::Event& event = report.event;
    const bool taken =
        applied.verdict == EventVerdict::kApplied || applied.verdict == EventVerdict::kDuplicate;
    const bool conflict = applied.verdict == EventVerdict::kRefused;
    ++counts_.at(taken ? kApplied : conflict ? kConflict : kStale);
    const bool goes_on = event.kind == EventKind::kTake || event.kind == EventKind::kProgress;
    if (!goes_on || !parts_.tell) return;
    if (taken && !(applied.state == model::RunState::kRunning && applied.cancel_requested)) return;
    parts_.tell(event.owner, report.run_id, event.exec_id, "cancel");
}

StatusListener::Counts StatusListener::counts() const {
    return {.applied = counts_[kApplied],
            .stale = counts_[kStale],
            .conflict = counts_[kConflict],
            .dead = counts_[kDead]};
}

}  // namespace ksana::engine
