#include "ksana/worker/broker_wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <stop_token>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/base/text/json_output.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/v1/broker_codec.hpp"
#include "ksana/model/run/agent.hpp"

namespace ksana::worker {
namespace {

constexpr Duration kPublishWithin = std::chrono::seconds(10);
constexpr Duration kIdle = std::chrono::seconds(5);
constexpr Duration kPause = std::chrono::seconds(1);  // before a call is tried again
// A status message has many reports: each message costs the broker about as much as a task.
constexpr std::size_t kReportsInMessage = 100;
constexpr std::size_t kBytesInMessage = std::size_t{1} << 20;
// Ids of calls that are not the HTTP wire's.
constexpr Wire::CallId kOwn = Wire::CallId{1} << 63;

WireAnswer Away(const std::string& why) {
    return {.error = Error(Code::kUnavailable, why), .status = 0, .json = {}, .pause = kPause};
}

WireAnswer Answer(const std::string& text) {
    auto json = codec::Json::Parse(text, text.size());
    if (!json) return Away(json.error().Describe());
    return {.error = {}, .status = 200, .json = *std::move(json), .pause = {}};
}

// What a server says to reports that it cannot read; the status queue has no answers.
std::optional<Error> FaultIn(const std::vector<std::string>& reports) {
    for (const std::string& text : reports) {
        if (auto read = codec::StatusMessageFromJson(text); !read) return std::move(read).error();
    }
    return std::nullopt;
}

// Returns the number of reports, from `first` on, that go into one status message.
std::size_t CountInMessage(const std::vector<std::string>& reports, std::size_t first) {
    std::size_t count = 0;
    std::size_t bytes = 0;
    while (first + count < reports.size() && count < kReportsInMessage) {
        bytes += reports[first + count].size();
        if (count > 0 && bytes > kBytesInMessage) break;
        ++count;
    }
    return count;
}

// How long a claim waits for tasks.
Duration WaitOf(const codec::Json& wish, Duration most) {
    const auto wait = ParseDuration(wish.TextAt("/wait"));
    return wait ? std::min(*wait, most) : most;
}

double InSeconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

BrokerWire::BrokerWire(Options options, const Parts& parts)
    : options_(std::move(options)),
      parts_(parts),
      link_(parts.broker, parts.clock, parts.random, "ksana worker " + options_.identity.name,
            [this](broker::Link& link) { return Prepare(link); }),
      thread_("broker", [this](const std::stop_token& stop) { Run(stop); }) {}

BrokerWire::~BrokerWire() { Stop(); }

void BrokerWire::Stop() {
    thread_.Stop();
    link_.Close();
    consuming_ = false;
    std::optional<Claim> claim;
    std::deque<Ends> ends;
    {
        const MutexLock lock(mutex_);
        claim.swap(claim_);
        ends.swap(ends_);
    }
    if (claim) claim->done(Away("the worker stops"));
    for (Ends& one : ends) one.done(Away("the worker stops"));
}

void BrokerWire::Run(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { link_.Nudge(); });
    while (!stop.stop_requested()) link_.WaitUntil(RunOnce(), stop);
}

Wire::CallId BrokerWire::Send(WireCall call, Done done) {
    const bool claims = call.path == "/api/v1/agent/claim";
    std::optional<std::vector<std::string>> ends;
    if (!claims) ends = EndsIn(call);
    if (!claims && !ends) return parts_.http.Send(std::move(call), std::move(done));
    CallId id = 0;
    {
        const MutexLock lock(mutex_);
        id = kOwn | ++last_id_;
        if (ends) {
            ends_.push_back({*std::move(ends), std::move(done)});
        } else {
            const auto wish = codec::Json::Parse(call.body, call.body.size());
            const std::int64_t most = wish ? wish->At("/max").Int().value_or(1) : 1;
            const Duration wait = wish ? WaitOf(*wish, call.timeout) : call.timeout;
            claim_ = Claim{.id = id,
                           .max = static_cast<std::size_t>(std::max<std::int64_t>(most, 1)),
                           .until = parts_.clock.SteadyNow() + wait,
                           .done = std::move(done)};
        }
    }
    link_.Nudge();
    return id;
}

void BrokerWire::Cancel(CallId id) {
    if ((id & kOwn) == 0) return parts_.http.Cancel(id);
    {
        const MutexLock lock(mutex_);
        if (!claim_ || claim_->id != id) return;
        claim_->cancelled = true;
    }
    link_.Nudge();
}

// Returns the messages for a call that reports the end of an attempt; none: it renews leases, or is
// no report at all, and is for a server.
std::optional<std::vector<std::string>> BrokerWire::EndsIn(const WireCall& call) const {
    if (call.path != "/api/v1/agent/exchange") return std::nullopt;
    const auto body = codec::Json::Parse(call.body, call.body.size());
    if (!body) return std::nullopt;
    std::vector<std::string> messages;
    bool ends = false;
    for (const codec::Json& report : body->At("/reports").Items()) {
        ends = ends || report.TextAt("/outcome") != "heartbeat";
        messages.push_back(Who() + report.Compact().substr(1));
    }
    if (!ends) return std::nullopt;
    return messages;
}

// The beginning of a status message.
std::string BrokerWire::Who() const {
    JsonOutput output;
    output.BeginObject();
    output.TextMember("worker", options_.identity.name);
    output.TextMember("incarnation", options_.identity.incarnation.ToString());
    output.EndObject();
    std::string text = output.Take();
    text.back() = ',';
    return text;
}

std::string BrokerWire::Begun(const codec::Json& task) const {
    JsonOutput output;
    output.BeginObject();
    output.TextMember("run_id", task.TextAt("/run_id"));
    output.TextMember("exec_id", task.TextAt("/exec_id"));
    output.TextMember("status", "RUNNING");
    output.TextMember("lease", FormatDuration(options_.lease));
    output.EndObject();
    return Who() + output.Take().substr(1);
}

void BrokerWire::Lose(const Error& error) {
    if (link_.Lose(error)) consuming_ = false;
}

// A consumer that the broker ended, or whose queue is gone, begins again with a new link, which
// declares the queues.
void BrokerWire::Renew(const Error& error) { Lose(Error(Code::kUnavailable, error.message)); }

SteadyPoint BrokerWire::RunOnce() {
    PublishEnds(link_.Get());
    ServeClaim(link_.Get());
    const SteadyPoint now = parts_.clock.SteadyNow();
    const MutexLock lock(mutex_);
    SteadyPoint next = link_.connected() ? now + kIdle : link_.retry_at();
    if (!ends_.empty()) next = std::min(next, now);
    if (claim_) next = std::min(next, std::max(claim_->until, now));
    return next;
}

void BrokerWire::PublishEnds(broker::Link* link) {
    std::deque<Ends> all;
    {
        const MutexLock lock(mutex_);
        all.swap(ends_);
    }
    for (Ends& one : all) {
        if (auto fault = FaultIn(one.reports)) {
            one.done({.error = *std::move(fault), .status = 400, .json = {}, .pause = {}});
            continue;
        }
        if (link == nullptr) {
            one.done(Away("no connection to the message broker"));
            continue;
        }
        const auto told = Tell(*link, one.reports);
        if (!told) {
            one.done(Away(told.error().Describe()));
            Lose(told.error());
            link = link_.Get();
        } else if (!std::ranges::all_of(*told, std::identity())) {
            one.done(Away("the message broker has not confirmed the reports"));
        } else {
            std::string verdicts;
            for (std::size_t n = 0; n < one.reports.size(); ++n) {
                verdicts += n == 0 ? R"({"verdict":"ok"})" : R"(,{"verdict":"ok"})";
            }
            one.done(Answer(fmt::format(R"({{"reports":[{}],"runs":[]}})", verdicts)));
        }
    }
}

// Sends reports to the status queue, many in a message. Returns for each whether the broker has it.
Result<std::vector<bool>> BrokerWire::Tell(broker::Link& link,
                                           const std::vector<std::string>& reports) const {
    std::vector<broker::OutMessage> messages;
    std::vector<std::size_t> counts;
    for (std::size_t first = 0; first < reports.size(); first += counts.back()) {
        counts.push_back(CountInMessage(reports, first));
        const auto begin = reports.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end = begin + static_cast<std::ptrdiff_t>(counts.back());
        messages.push_back({.queue = parts_.queues.Status().name,
                            .message = {.body = fmt::format("[{}]", fmt::join(begin, end, ","))}});
    }
    KSANA_TRY(const auto verdicts, link.Publish(messages, kPublishWithin));
    std::vector<bool> confirmed;
    for (std::size_t n = 0; n < counts.size(); ++n) {
        const bool stored = verdicts[n] == broker::PublishVerdict::kStored;
        confirmed.insert(confirmed.end(), counts[n], stored);
    }
    return confirmed;
}

void BrokerWire::ServeClaim(broker::Link* link) {
    std::size_t most = 0;
    bool over = false;
    {
        const MutexLock lock(mutex_);
        if (claim_) {
            most = claim_->max;
            over = claim_->cancelled || claim_->until <= parts_.clock.SteadyNow();
        }
    }
    std::vector<std::string> runs;
    if (link != nullptr && most > 0 && !over && !link->blocked()) {
        auto taken = Take(*link, most);
        if (!taken) Renew(taken.error());
        if (taken) runs = *std::move(taken);
    } else if (link != nullptr && consuming_) {
        if (const auto paused = Pause(*link); !paused) Lose(paused.error());
    }
    if (runs.empty() && !over) return;
    std::optional<Claim> claim;
    {
        const MutexLock lock(mutex_);
        claim.swap(claim_);
    }
    if (!claim) return;
    std::string items;
    for (const std::string& run : runs) items += (items.empty() ? "" : ",") + run;
    claim->done(Answer(fmt::format(R"({{"runs":[{}]}})", items)));
}

Result<void> BrokerWire::Prepare(broker::Link& link) {
    consuming_ = false;
    KSANA_TRY_VOID(link.Declare(parts_.queues.Dead()));
    KSANA_TRY_VOID(link.Declare(parts_.queues.Status()));
    for (const std::string& category : options_.categories) {
        KSANA_TRY_VOID(link.Declare(parts_.queues.Tasks(category)));
    }
    return {};
}

Result<void> BrokerWire::Consume(broker::Link& link, std::size_t most) {
    for (const std::string& category : options_.categories) {
        KSANA_TRY_VOID(link.Consume(parts_.queues.Tasks(category).name, most));
    }
    consuming_ = true;
    return {};
}

Result<void> BrokerWire::Pause(broker::Link& link) {
    consuming_ = false;
    return link.StopConsuming();
}

// Returns tasks as the answer to a claim has them. They have begun as far as the server is told.
Result<std::vector<std::string>> BrokerWire::Take(broker::Link& link, std::size_t most) {
    if (!consuming_) KSANA_TRY_VOID(Consume(link, most));
    KSANA_TRY(const std::vector<broker::Delivery> deliveries, link.Receive(Duration::zero(), most));
    std::vector<std::string> runs;
    if (deliveries.empty()) return runs;
    std::vector<std::uint64_t> begun;
    std::vector<std::uint64_t> unreadable;
    std::vector<std::string> news;
    for (const broker::Delivery& delivery : deliveries) {
        const std::string& body = delivery.message.body;
        const auto task = codec::Json::Parse(body, body.size());
        const auto timeout =
            task ? ParseDuration(task->TextAt("/timeout")) : Result<Duration>(task.error());
        if (!timeout || task->TextAt("/exec_id").empty() || task->TextAt("/run_id").empty()) {
            Log(LogLevel::kError, "a message is no task, it goes to the dead letters",
                {{"message_id", delivery.message.id}});
            unreadable.push_back(delivery.tag);
            continue;
        }
        begun.push_back(delivery.tag);
        news.push_back(Begun(*task));
        runs.push_back(fmt::format(R"({{"lease_expires_in":{},"deadline_in":{},{})",
                                   InSeconds(options_.lease), InSeconds(*timeout),
                                   task->Compact().substr(1)));
    }
    // First nothing more comes, then these are acknowledged: else others would take their place.
    KSANA_TRY_VOID(Pause(link));
    if (!unreadable.empty()) KSANA_TRY_VOID(link.Reject(unreadable, false));
    if (begun.empty()) return runs;
    KSANA_TRY(const std::vector<bool> confirmed, Tell(link, news));
    // What the server has not heard of goes back; what it has heard of nobody else could begin.
    std::vector<std::string> told;
    std::vector<std::uint64_t> untold;
    std::vector<std::uint64_t> done;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        (confirmed[i] ? done : untold).push_back(begun[i]);
        if (confirmed[i]) told.push_back(std::move(runs[i]));
    }
    if (!untold.empty()) KSANA_TRY_VOID(link.Reject(untold, true));
    if (!done.empty()) KSANA_TRY_VOID(link.Acknowledge(done));
    return told;
}

}  // namespace ksana::worker
