// The part of BrokerPublisher that looks for runs whose messages the broker has lost.

#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/engine/broker/broker_publisher.hpp"

namespace ksana::engine {
namespace {

constexpr Duration kSweepEvery = std::chrono::seconds(5);
// What is not begun that long after its queue was seen empty and without a consumer has no message
// any more: the news of a consumer that has just left are in by then.
constexpr Duration kLostAfter = std::chrono::seconds(10);
constexpr std::size_t kMostSwept = 1'000;

}  // namespace

void BrokerPublisher::Sweep() {
    sweep_at_ = parts_.clock.SteadyNow() + kSweepEvery;
    broker::Link* const link = link_.Get();
    if (link == nullptr) return;
    auto lost = FindLost(*link);
    if (!lost) {
        Log(LogLevel::kWarn, "no look after messages that may be lost",
            {{"error", lost.error().Describe()}});
        return;
    }
    if (lost->empty()) return;
    counts_[kLost] += lost->size();
    Log(LogLevel::kWarn, "messages of tasks are lost, they are published again",
        {{"runs", lost->size()}});
    Report(*std::move(lost));
}

// Looks at the oldest runs that the broker has; lost ones stay until they are among these. When a
// queue is gone, one look after the other sees all runs.
Result<std::vector<model::RunEvent>> BrokerPublisher::FindLost(broker::Link& link) {
    store::RunQuery query;
    query.filter.states = model::SetOf(model::RunState::kRunning);
    query.filter.owner = std::string(model::kBrokerOwner);
    query.descending = false;
    query.limit = kMostSwept;
    query.cursor = gone_cursor_;
    const std::size_t known = gone_.size();
    KSANA_TRY(const store::Page<model::Run> page, parts_.store.runs().List(query));
    KSANA_TRY(const TimePoint now, parts_.store.Now());
    std::vector<model::RunEvent> lost;
    // What was noted before this time is lost, by category; none: nothing is.
    std::map<std::string, std::optional<TimePoint>> lost_before;
    std::map<std::string, std::deque<TimePoint>> abandoned;
    for (const model::Run& run : page.items) {
        const std::string& category = run.category;
        if (!lost_before.contains(category)) {
            KSANA_TRY(const Fate fate, FateOf(link, category));
            std::optional<TimePoint> before;
            if (fate == Fate::kGone) before = gone_[category].value_or(now);
            if (fate == Fate::kAbandoned) {
                std::deque<TimePoint>& looks = abandoned[category];
                looks = std::move(abandoned_[category]);
                looks.push_back(now);
                while (looks.size() > 1 && now - looks[1] >= kLostAfter) looks.pop_front();
                if (now - looks.front() >= kLostAfter) before = looks.front();
            }
            lost_before[category] = before;
        }
        std::optional<TimePoint> before = lost_before[category];
        if (!before) continue;
        // A node that has claimed it publishes it just now, unless it has died.
        if (run.status.detail.empty()) *before -= kLostAfter;
        // What was noted in the future was noted before the store's clock was set back.
        if (run.updated_at >= *before && run.updated_at <= now) continue;
        lost.push_back(TakenBack(run, "its message is lost"));
    }
    if (query.cursor.empty()) abandoned_ = std::move(abandoned);
    const bool news = gone_.size() != known && !query.cursor.empty();
    if (page.next.empty() && !news) gone_.clear();
    gone_cursor_ = gone_.empty() || news ? std::string() : page.next;
    if (!gone_.empty()) sweep_at_ = {};  // a page at a time
    return lost;
}

// An empty queue with consumers says nothing: they may hold messages that they have not begun.
// Makes the queue if the broker has forgotten it.
Result<BrokerPublisher::Fate> BrokerPublisher::FateOf(broker::Link& link,
                                                      const std::string& category) {
    const auto state = link.Inspect(parts_.queues.Tasks(category).name);
    if (state && gone_.contains(category)) return Fate::kGone;
    if (state) {
        const bool abandoned = state->messages == 0 && state->consumers == 0;
        return abandoned ? Fate::kAbandoned : Fate::kInUse;
    }
    if (state.error().code == Code::kNotFound) {
        NoteGone(category);
        const auto declared = DeclareFor(link, category);
        if (declared) return Fate::kGone;
        link_.Lose(declared.error());
        return declared.error();
    }
    if (link_.Lose(state.error())) return state.error();
    return Fate::kInUse;  // a queue that is somebody's alone says nothing; others are looked at
}

}  // namespace ksana::engine
