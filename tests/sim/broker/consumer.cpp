#include "sim/broker/consumer.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/ids/hash.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::sim {

using model::EventKind;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr Duration kMoment = milliseconds(1);
// Ends that are remembered, to be said again if a message comes again.
constexpr std::size_t kMostEnded = 1'000;

std::string Seconds(Duration time) {
    return fmt::format("{}s", std::chrono::ceil<seconds>(time).count());
}

}  // namespace

Consumer::Consumer(World& world, const Parts& parts, int number, const ConsumerSettings& settings)
    : world_(world),
      parts_(parts),
      number_(number),
      settings_(settings),
      name_(fmt::format("consumer{}-0", number)),
      broker_(parts.broker, parts.news, ClusterPlant::kNone) {
    TurnAt(world_.now() + kMoment);
}

void Consumer::Note(const Task& task, std::string_view what) {
    const model::Run* const run = parts_.runs.Find(task.run_id);
    world_.Note(run == nullptr ? "" : StoryOf(*run), HashText(what, number_),
                [&] { return fmt::format("{}: {} {}", name_, what, task.exec_id); });
}

void Consumer::DieFor(Duration how_long) {
    for (const auto& [exec_id, work] : works_) Note(work.task, "dies with");
    link_.reset();
    works_.clear();
    ended_.clear();
    outbox_.clear();
    // Names prove nothing and need not be new.
    if (world_.Chance(500)) name_ = fmt::format("consumer{}-{}", number_, ++life_);
    PauseFor(how_long);
}

void Consumer::Ring() {
    if (!away()) TurnAt(world_.now() + world_.Between(kMoment, milliseconds(20)));
}

void Consumer::Heal() {
    healed_ = true;
    away_until_ = std::min(away_until_, world_.now());
    for (auto& [exec_id, work] : works_) {
        work.done_at = std::min<TimePoint>(work.done_at, world_.now() + seconds(5));
    }
    TurnAt(world_.now() + kMoment);
}

// A turn that is scheduled earlier stays.
void Consumer::TurnAt(TimePoint when) {
    if (turn_at_ && *turn_at_ <= when) return;
    turn_at_ = when;
    world_.At(when, [this, turn = ++turn_] {
        if (turn == turn_) Turn();
    });
}

void Consumer::Turn() {
    turn_at_.reset();
    if (away()) return TurnAt(away_until_);
    if (!Connect()) return TurnAt(world_.now() + world_.Between(milliseconds(200), seconds(5)));
    TalkAndWork();
    if (away()) return TurnAt(away_until_);
    if (!link_) return TurnAt(world_.now() + milliseconds(200));
    TimePoint next =
        world_.now() + (healed_ ? std::min(settings_.poll, Duration(seconds(2))) : settings_.poll);
    for (const auto& [exec_id, work] : works_) {
        next = std::min({next, work.done_at, work.silent ? work.done_at : work.beat_at});
    }
    TurnAt(std::max(next, world_.now() + kMoment));
}

bool Consumer::Connect() {
    if (link_) return true;
    if (world_.now() < gone_until_) return false;
    auto opened = broker_.Open(name_);
    if (!opened) return false;
    link_ = *std::move(opened);
    const engine::BrokerQueues& queues = parts_.queues;
    const broker::QueueSpec tasks = queues.Tasks(settings_.category);
    const broker::QueueSpec own{.name = queues.Worker(name_), .exclusive = true};
    if (link_->Declare(queues.Dead()) && link_->Declare(queues.Status()) && link_->Declare(tasks) &&
        link_->Declare(own) && link_->Consume(tasks.name, settings_.prefetch) &&
        link_->Consume(own.name, settings_.prefetch)) {
        return true;
    }
    link_.reset();
    return false;
}

void Consumer::TalkAndWork() {
    if (!SendAll()) return;
    Receive();
    for (auto one = works_.begin(); one != works_.end();) {
        const Work work = one->second;
        if (work.done_at <= world_.now()) {
            one = works_.erase(one);
            End(work);
            continue;
        }
        if (!work.silent && work.beat_at <= world_.now()) {
            Say(work.task, "HEARTBEAT", fmt::format(R"(,"lease":"{}")", Seconds(settings_.lease)));
            one->second.beat_at = world_.now() + settings_.lease / 3;
        }
        ++one;
    }
    SendAll();
}

// Says again what the broker has not confirmed; it may have it all the same.
bool Consumer::SendAll() {
    while (link_ && !outbox_.empty()) {
        const auto sent = link_->Publish(
            {{.queue = parts_.queues.Status().name, .message = {.body = outbox_.front()}}},
            seconds(1));
        if (!sent || sent->at(0) == broker::PublishVerdict::kNoQueue) {
            link_.reset();  // makes the queue again, too
        } else if (sent->at(0) == broker::PublishVerdict::kStored) {
            outbox_.pop_front();
        } else {
            return false;
        }
    }
    return link_ != nullptr;
}

void Consumer::Receive() {
    if (!link_) return;
    const auto deliveries = link_->Receive(Duration::zero(), settings_.prefetch);
    if (!deliveries) return link_.reset();
    std::vector<std::uint64_t> tags;
    for (const broker::Delivery& one : *deliveries) {
        tags.push_back(one.tag);
        const auto json = codec::Json::Parse(one.message.body);
        if (!json) continue;
        Task task{.run_id = Uuid::Parse(json->TextAt("/run_id")).value_or(Uuid{}),
                  .exec_id = json->TextAt("/exec_id"),
                  .timeout = ParseDuration(json->TextAt("/timeout")).value_or(seconds(10))};
        if (json->TextAt("/directive").empty()) {
            Begin(task);
        } else if (works_.erase(task.exec_id) > 0) {
            Note(task, "is told to stop");
        }
    }
    if (link_ && !link_->Acknowledge(tags)) link_.reset();
}

void Consumer::Begin(const Task& task) {
    const auto ended = ended_.find(task.exec_id);
    if (ended != ended_.end()) return outbox_.push_back(ended->second);
    if (works_.contains(task.exec_id)) return;
    Note(task, "has");
    Work work{.task = task};
    work.beat_at = world_.now() + settings_.lease / 3;
    if (healed_) {
        work.done_at = world_.now() + world_.Between(milliseconds(1), milliseconds(200));
    } else {
        if (world_.Chance(30)) return;  // forgets it
        const Duration most = world_.Chance(100) ? settings_.lease * 2 : task.timeout;
        work.done_at = world_.now() + world_.Between(milliseconds(5), most);
        work.silent = world_.Chance(150);
        if (world_.Chance(80)) {
            End(work);  // and says afterwards that it has begun
            work.done_at = {};
        }
    }
    // Without a lease the timeout of the task ends it: not where that is long.
    const bool leased = task.timeout > seconds(60) || !world_.Chance(200);
    Say(task, "RUNNING",
        leased ? fmt::format(R"(,"lease":"{}")", Seconds(settings_.lease)) : std::string());
    if (work.done_at != TimePoint{}) works_.emplace(task.exec_id, std::move(work));
}

void Consumer::End(const Work& work) {
    if (ended_.size() >= kMostEnded) ended_.erase(ended_.begin());
    const std::string text = DrawEnd(work.task);
    ended_[work.task.exec_id] = text;
    outbox_.push_back(text);
}

// Returns the report, and tells the checks what it says.
std::string Consumer::DrawEnd(const Task& task) {
    model::Event event{.kind = EventKind::kSuccess, .exec_id = task.exec_id};
    const std::string whose = task.exec_id + " " + name_;
    const std::uint64_t dice = healed_ ? 0 : world_.Below(100);
    std::string status = "COMPLETED";
    std::string more;
    if (dice < 60) {
        event.result = fmt::format(R"({{"by":"{}"}})", whose);
        more = fmt::format(R"(,"result":{})", event.result);
    } else if (dice < 90) {
        status = "FAILED";
        event.kind = dice < 85 ? EventKind::kRetryableFailure : EventKind::kPermanentFailure;
        event.error = "by " + whose;
        more = fmt::format(R"(,"error":"{}")", event.error);
        if (dice < 65) event.after = seconds(world_.Below(60));
        if (dice < 65) more += fmt::format(R"(,"retry":{{"after":"{}"}})", Seconds(*event.after));
        if (dice >= 85) more += R"(,"retry":"no")";
    } else if (dice < 95) {
        status = "RELEASED";
        event.kind = EventKind::kShutdown;
    } else {
        status = "SNOOZED";
        event.kind = EventKind::kSnooze;
        event.after = seconds(1 + world_.Below(60));
        more = fmt::format(R"(,"after":"{}")", Seconds(*event.after));
    }
    Note(task, status);
    parts_.tasks.Says(task.exec_id, event, name_);
    parts_.targets.Answered(task.run_id, task.exec_id, name_, event.kind);
    std::string text =
        fmt::format(R"({{"run_id":"{}","exec_id":"{}","worker":"{}","status":"{}"{}}})",
                    task.run_id.ToString(), task.exec_id, name_, status, more);
    if (!healed_ && world_.Chance(100)) outbox_.push_back(text);  // twice
    return text;
}

void Consumer::Say(const Task& task, std::string_view status, std::string_view more) {
    outbox_.push_back(
        fmt::format(R"({{"run_id":"{}","exec_id":"{}","worker":"{}","status":"{}"{}}})",
                    task.run_id.ToString(), task.exec_id, name_, status, more));
}

}  // namespace ksana::sim
