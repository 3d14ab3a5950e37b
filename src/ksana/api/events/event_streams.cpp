#include "ksana/api/events/event_streams.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/store/page.hpp"

namespace ksana::api {
namespace {

constexpr std::size_t kPage = 200;
// Longest sleep, in case a wake-up was lost; and the pause after an error of the store.
constexpr Duration kLongestSleep = std::chrono::seconds(5);
constexpr Duration kStreamErrorPause = std::chrono::seconds(1);

Result<std::int64_t> NewestSeq(store::Store& store) {
    KSANA_TRY(const auto page, store.events().List({.filter = {}, .descending = true, .limit = 1}));
    return page.items.empty() ? 0 : page.items.front().seq;
}

}  // namespace

EventStreams::EventStreams(store::Store& store, Clock& clock, const Options& options)
    : store_(store),
      clock_(clock),
      options_(options),
      shares_(options.max_streams_of_client),
      finished_(store, std::max<Duration>(options.hole_patience, std::chrono::milliseconds(50))),
      thread_("events", [this](const std::stop_token& stop) { Run(stop); }),
      subscription_(store.changes().Subscribe(store::Topic::kEvents | store::Topic::kFinished,
                                              [this](store::Topics topics) { Hint(topics); })) {}

EventStreams::~EventStreams() { Stop(); }

Result<void> EventStreams::Start() {
    const MutexLock service(service_mutex_);
    {
        const MutexLock lock(mutex_);
        stopped_ = false;
    }
    return thread_.Start();
}

void EventStreams::Stop() {
    const MutexLock service(service_mutex_);
    {
        const MutexLock lock(mutex_);
        stopped_ = true;
    }
    thread_.Stop();
    TakeIn();
    for (const auto& one : streams_) one->stream()->End();
    open_ -= streams_.size();
    streams_.clear();
}

Result<std::shared_ptr<http_server::Stream>> EventStreams::Open(EventRequest wish) {
    KSANA_TRY(const std::int64_t newest, NewestSeq(store_));
    const MutexLock lock(mutex_);
    if (stopped_) return Error(Code::kUnavailable, "the server is stopping");
    if (open_ >= options_.max_streams) {
        return Error(Code::kExhausted,
                     fmt::format("{} streams of events are open already", options_.max_streams));
    }
    auto share = shares_.Enter(wish.client);
    if (!share) {
        return Error(
            Code::kExhausted,
            fmt::format("this client has {} streams of events open already", shares_.most()));
    }
    const std::int64_t after = wish.after.value_or(newest);
    auto fresh =
        std::make_unique<EventStream>(std::move(wish), options_.buffer, wakeup_, std::move(share));
    fresh->MoveTo(after);
    if (after > newest) {  // id of another store, or newer than a restored backup
        fresh->TellGap("unknown_id", newest);
        fresh->MoveTo(newest);
    }
    fresh->Greet();
    auto stream = fresh->stream();
    coming_.push_back(std::move(fresh));
    ++open_;
    wakeup_->Notify();
    return stream;
}

void EventStreams::Hint(store::Topics topics) {
    if (open_ == 0) return;
    if (topics.Has(store::Topic::kFinished)) ended_runs_ = true;
    wakeup_->Notify();
}

void EventStreams::TakeIn() {
    const MutexLock lock(mutex_);
    std::ranges::move(coming_, std::back_inserter(streams_));
    coming_.clear();
}

void EventStreams::Run(const std::stop_token& stop) {
    while (!stop.stop_requested()) clock_.Wait(*wakeup_, RunOnce(), stop);
}

SteadyPoint EventStreams::RunOnce() {
    TakeIn();
    open_ -= std::erase_if(streams_, [](const auto& one) { return one->IsOver(); });
    const SteadyPoint now = clock_.SteadyNow();
    if (streams_.empty()) {
        finished_.Forget();
        return now + std::chrono::hours(1);
    }
    for (const auto& one : streams_) one->Comment(now, options_.comment_every);
    SteadyPoint next = now + std::min(kLongestSleep, options_.comment_every);
    for (const auto& one : streams_) {
        next = std::min<SteadyPoint>(next, one->last_word() + options_.comment_every);
    }
    auto again = TellEvents();
    Result<void> told = again ? TellRuns(now) : Result<void>(again.error());
    if (!told) {
        if (!std::exchange(failing_, true)) {
            Log(LogLevel::kError, "events cannot be read", {{"error", told.error().Describe()}});
        }
        return std::min<SteadyPoint>(next, now + kStreamErrorPause);
    }
    failing_ = false;
    if (*again) return now;
    if (held_back_) next = std::min<SteadyPoint>(next, now + options_.hole_patience / 4);
    if (ended_runs_) next = std::min(next, std::max(next_look_, now));
    return next;
}

// Streams at the same position share a read. Returns true if there is more to send at once.
Result<bool> EventStreams::TellEvents() {
    std::map<std::int64_t, std::vector<EventStream*>> places;
    held_back_ = false;
    for (const auto& one : streams_) {
        if (one->TellLeftOut() && one->HasRoom()) places[one->position()].push_back(one.get());
    }
    bool again = false;
    for (const auto& [position, listeners] : places) {
        KSANA_TRY(const bool more, TellFrom(position, listeners));
        again = again || more;
    }
    return again;
}

Result<bool> EventStreams::TellFrom(std::int64_t position,
                                    const std::vector<EventStream*>& listeners) {
    store::EventQuery query;
    query.descending = false;
    query.limit = kPage;
    query.cursor = store::EventsAfter(position);
    KSANA_TRY(const auto page, store_.events().List(query));
    if (page.items.empty()) return false;
    KSANA_TRY(const TimePoint now, store_.Now());
    std::int64_t last = position;
    std::size_t count = 0;
    for (const model::AuditEvent& event : page.items) {
        const bool hole = event.seq != last + 1 && position > 0;
        const bool patient = options_.hole_patience > Duration::zero();
        if (hole && patient && event.at + options_.hole_patience > now) {
            held_back_ = true;
            break;
        }
        last = event.seq;
        ++count;
    }
    const auto end = page.items.begin() + static_cast<std::ptrdiff_t>(count);
    KSANA_TRY(const bool lost, IsLost(position, page.items.front().seq));
    bool moved = false;
    for (EventStream* const one : listeners) {
        if (lost) {
            if (!one->TellGap("too_old", page.items.front().seq)) continue;
            one->MoveTo(page.items.front().seq - 1);
        }
        const bool all = std::all_of(page.items.begin(), end, [&](const model::AuditEvent& event) {
            return one->Tell(event);
        });
        moved = moved || all;
    }
    return moved && count == kPage;
}

// Returns whether the events between `position` and `next` were deleted: no event before `next` is
// stored.
Result<bool> EventStreams::IsLost(std::int64_t position, std::int64_t next) {
    if (position == 0 || next == position + 1) return false;
    KSANA_TRY(const auto oldest,
              store_.events().List({.filter = {}, .descending = false, .limit = 1}));
    return !oldest.items.empty() && oldest.items.front().seq >= next;
}

Result<void> EventStreams::TellRuns(SteadyPoint now) {
    const bool wanted =
        std::ranges::any_of(streams_, [](const auto& one) { return one->WantsRuns(); });
    if (!wanted) {
        finished_.Forget();
        return {};
    }
    const bool look = ended_runs_ || !finished_.begun() || now >= next_look_ + kLongestSleep;
    if (!look || now < next_look_) return {};
    ended_runs_ = false;  // before the look: runs that finish from here on set it again
    next_look_ = now + options_.run_look_every;
    KSANA_TRY(const FinishedRuns::Found found, finished_.Look());
    for (const auto& one : streams_) {
        for (const model::Run& run : found.runs) one->Tell(run);
        if (found.more && one->WantsRuns()) one->LeaveOut();
    }
    return {};
}

}  // namespace ksana::api
