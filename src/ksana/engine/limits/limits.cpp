#include "ksana/engine/limits/limits.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "ksana/base/log/log.hpp"
#include "ksana/model/http_url.hpp"

namespace ksana::engine {
namespace {

using model::LimitKind;
using model::TargetHealth;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// The most failing destinations that are tracked. Further ones have no breaker.
constexpr std::size_t kMaxHosts = 10'000;

// Attempts that start within this time wait in memory, but at least kFewestWaiting and at most
// kMostKeptWaiting.
constexpr nanoseconds kWorthKeeping = seconds(10);
constexpr std::int64_t kFewestWaiting = 2;
constexpr std::int64_t kMostKeptWaiting = 64;
// The assumed duration of an attempt before the first one ended.
constexpr nanoseconds kGuessedHold = seconds(1);

// The bounds of the time that an attempt is sent away for. The upper one exists because a limit may
// be raised meanwhile.
constexpr Duration kShortestAway = seconds(1);
constexpr Duration kLongestAway = std::chrono::minutes(5);

// Attempts that an open breaker sent away come back at this interval, at most kMaxReturns of them
// one by one.
constexpr Duration kBetweenReturns = milliseconds(10);
constexpr std::int64_t kMaxReturns = 3'000;

}  // namespace

struct LimitTracker::Line {
    std::string key;
    model::Limit limit;
    std::optional<TokenBucket> bucket;
    std::size_t in_use = 0;
    nanoseconds hold = kGuessedHold;  // moving average of the time an attempt is in flight
    SteadyPoint booked_until{};  // the places up to here belong to attempts that were sent away

    bool Full() const {
        return limit.max_concurrency &&
               in_use >= static_cast<std::size_t>(std::max(0, *limit.max_concurrency));
    }

    // Returns the expected time between two starts.
    nanoseconds Interval() const {
        nanoseconds interval = bucket ? bucket->interval() : nanoseconds(1);
        if (limit.max_concurrency) {
            interval = std::max(interval, hold / std::max(1, *limit.max_concurrency));
        }
        return std::max(interval, nanoseconds(1));
    }
};

// The limit of a type applies to its work. A callback about the end of a run counts only toward the
// host's limit.
LimitSubject SubjectOf(const model::Run& run, const model::Job* job, const CallbackCall* callback) {
    LimitSubject subject;
    if (callback != nullptr) {
        if (!callback->url.starts_with(kMailTo)) {
            subject.host = model::HostAndPortOf(callback->url);
        }
        return subject;
    }
    subject.type = run.type;
    if (job == nullptr) return subject;
    subject.group = job->group;
    if (const auto* http = std::get_if<model::HttpAction>(&job->action)) {
        subject.host = model::HostAndPortOf(http->url);
    }
    return subject;
}

std::string LimitKey(LimitKind kind, std::string_view name) {
    std::string key(model::NameOf(kind));
    if (kind != LimitKind::kNode) key.append(":").append(name);
    return key;
}

LimitKind KindOfLimitKey(std::string_view key) {
    return model::FromName<LimitKind>(key.substr(0, key.find(':'))).value_or(LimitKind::kNode);
}

std::string_view NameOfLimitKey(std::string_view key) {
    const std::size_t colon = key.find(':');
    return colon == std::string_view::npos ? "" : key.substr(colon + 1);
}

LimitTracker::LimitTracker(Options options) : options_(std::move(options)) {
    if (options_.node_rate) node_.emplace(*options_.node_rate);
    NoteActive();
}

void LimitTracker::NoteActive() { active_ = node_ || !lines_.empty() || !hosts_.empty(); }

SteadyPoint LimitTracker::NodeFreeAt() const {
    const MutexLock lock(mutex_);
    return node_ ? node_->NextAt() : SteadyPoint::min();
}

// A limit of a host without a port applies to all its ports.
std::vector<std::shared_ptr<LimitTracker::Line>> LimitTracker::LinesOf(
    const LimitSubject& subject) const {
    std::vector<std::shared_ptr<Line>> found;
    if (lines_.empty()) return found;
    const std::string_view host = subject.host;
    const std::array<std::pair<LimitKind, std::string_view>, 4> names = {
        {{LimitKind::kGroup, subject.group},
         {LimitKind::kType, subject.type},
         {LimitKind::kHost, host},
         {LimitKind::kHost, host.substr(0, host.rfind(':'))}}};
    for (const auto& [kind, name] : names) {
        if (name.empty()) continue;
        const auto line = lines_.find(LimitKey(kind, name));
        if (line != lines_.end()) found.push_back(line->second);
    }
    return found;
}

std::optional<LimitTracker::Answer> LimitTracker::AskBreaker(const std::string& host,
                                                             SteadyPoint now) {
    if (host.empty() || hosts_.empty()) return std::nullopt;
    const auto found = hosts_.find(host);
    if (found == hosts_.end() || found->second.breaker.Allows(now)) return std::nullopt;
    Host& known = found->second;
    Answer answer;
    answer.key = LimitKey(LimitKind::kHost, host);
    answer.breaker = true;
    if (known.breaker.state() == BreakerState::kHalfOpen) {
        answer.kind = Answer::Kind::kWaits;
        return answer;
    }
    answer.kind = Answer::Kind::kLater;
    answer.after = std::chrono::ceil<Duration>(known.breaker.retry_at() - now) +
                   kBetweenReturns * std::min(known.given_back++, kMaxReturns);
    return answer;
}

// All or nothing: an attempt that one limit refuses takes nothing from the others.
LimitTracker::Answer LimitTracker::TryTake(const LimitSubject& subject, SteadyPoint now) {
    const MutexLock lock(mutex_);
    if (auto refused = AskBreaker(subject.host, now)) return *std::move(refused);
    Answer answer;
    std::vector<std::shared_ptr<Line>> lines = LinesOf(subject);
    for (const auto& line : lines) {
        const bool full = line->Full();
        if (!full && (!line->bucket || line->bucket->NextAt() <= now)) continue;
        answer.kind = Answer::Kind::kWaits;
        answer.key = line->key;
        if (!full) answer.again = line->bucket->NextAt();
        return answer;
    }
    for (const auto& line : lines) {
        ++line->in_use;
        if (line->bucket) line->bucket->Take(now);
    }
    if (node_) node_->Take(now);
    answer.ticket.since = now;
    answer.ticket.lines = std::move(lines);
    const auto host = subject.host.empty() ? hosts_.end() : hosts_.find(subject.host);
    if (host != hosts_.end()) answer.ticket.probe = host->second.breaker.Begin();
    return answer;
}

void LimitTracker::Join(Ticket& ticket, const LimitSubject& subject, SteadyPoint now) {
    const MutexLock lock(mutex_);
    if (ticket.lines.empty()) ticket.since = now;
    for (const auto& line : LinesOf(subject)) {
        if (std::ranges::find(ticket.lines, line) != ticket.lines.end()) continue;
        ++line->in_use;
        ticket.lines.push_back(line);
    }
}

std::vector<LimitTracker::TypeRoom> LimitTracker::TypeRooms(SteadyPoint now) const {
    std::vector<TypeRoom> rooms;
    const std::string first = LimitKey(LimitKind::kType, "");
    const MutexLock lock(mutex_);
    for (auto line = lines_.lower_bound(first);
         line != lines_.end() && line->first.starts_with(first); ++line) {
        const Line& of = *line->second;
        TypeRoom room{.type = std::string(NameOfLimitKey(of.key)), .room = SIZE_MAX};
        if (of.limit.max_concurrency) {
            const auto most = static_cast<std::size_t>(std::max(0, *of.limit.max_concurrency));
            room.room = most - std::min(most, of.in_use);
        }
        if (of.bucket) {
            const std::size_t tokens = of.bucket->Tokens(now);
            if (tokens == 0 && room.room > 0) room.again = of.bucket->NextAt();
            room.room = std::min(room.room, tokens);
        }
        rooms.push_back(std::move(room));
    }
    return rooms;
}

LimitTracker::Ticket LimitTracker::TakeType(std::string_view type, SteadyPoint now) {
    Ticket ticket;
    ticket.since = now;
    const MutexLock lock(mutex_);
    const auto line = lines_.find(LimitKey(LimitKind::kType, type));
    if (line == lines_.end()) return ticket;
    ++line->second->in_use;
    if (line->second->bucket) line->second->bucket->Take(now);
    ticket.lines.push_back(line->second);
    return ticket;
}

void LimitTracker::GiveBack(const Ticket& ticket, SteadyPoint now) {
    if (ticket.lines.empty()) return;
    const MutexLock lock(mutex_);
    for (const auto& line : ticket.lines) {
        line->in_use -= std::min<std::size_t>(line->in_use, 1);
        line->hold = (line->hold * 3 + std::max(now - ticket.since, nanoseconds(0))) / 4;
    }
}

std::optional<Duration> LimitTracker::Tell(const Sign& sign, SteadyPoint now) {
    if (sign.host.empty() || options_.breaker.failures <= 0) return std::nullopt;
    const MutexLock lock(mutex_);
    auto found = hosts_.find(sign.host);
    if (found == hosts_.end()) {
        if (sign.sign != TargetHealth::kDown || hosts_.size() >= kMaxHosts) return std::nullopt;
        found =
            hosts_.emplace(sign.host, Host{Breaker(options_.breaker, options_.name + sign.host)})
                .first;
        NoteActive();
    }
    Breaker& breaker = found->second.breaker;
    const BreakerState before = breaker.state();
    std::optional<Duration> next_probe;
    if (sign.sign == TargetHealth::kDown) {
        breaker.Failed(sign.probe, now, sign.retry_after);
        const bool opened = breaker.state() == BreakerState::kOpen && before != breaker.state();
        if (opened) found->second.given_back = 0;
        if (opened && sign.probe)
            next_probe = std::chrono::ceil<Duration>(breaker.retry_at() - now);
    } else if (sign.sign == TargetHealth::kAnswered) {
        breaker.Answered(sign.began);
    } else if (sign.probe) {
        breaker.Undecided(now);
    }
    const BreakerState after = breaker.state();
    if (after == BreakerState::kClosed && breaker.failures() == 0) {
        hosts_.erase(found);
        NoteActive();
    }
    // A failed probe opens the breaker again, which is not logged.
    if (before == BreakerState::kClosed && after == BreakerState::kOpen) {
        Log(LogLevel::kWarn, "a destination is down; runs that call it wait",
            {{"host", sign.host}});
    } else if (before != BreakerState::kClosed && after == BreakerState::kClosed) {
        Log(LogLevel::kInfo, "a destination answers again", {{"host", sign.host}});
    }
    return next_probe;
}

std::size_t LimitTracker::MayWait(const std::string& key) const {
    const MutexLock lock(mutex_);
    const auto line = lines_.find(key);
    const nanoseconds interval = line == lines_.end() ? kGuessedHold : line->second->Interval();
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(kWorthKeeping / interval, kFewestWaiting, kMostKeptWaiting));
}

// The throughput of a rate limit is known. The duration of other attempts is an estimate, so only
// half of the computed time is waited: returning too early costs a transaction, too late leaves
// capacity unused.
LimitTracker::Place LimitTracker::TakePlace(const std::string& key, std::size_t waiting,
                                            SteadyPoint now) {
    const MutexLock lock(mutex_);
    const auto found = lines_.find(key);
    if (found == lines_.end()) return {.after = kShortestAway, .before = waiting};
    Line& line = *found->second;
    const nanoseconds interval = line.Interval();
    const SteadyPoint memory = now + interval * static_cast<std::int64_t>(waiting);
    const SteadyPoint place = std::max(line.booked_until, memory);
    line.booked_until = std::min<SteadyPoint>(place + interval, now + std::chrono::hours(24));
    const bool guessed = !line.bucket || interval > line.bucket->interval();
    const auto wait = std::chrono::ceil<Duration>((place - now) / (guessed ? 2 : 1));
    return {.after = std::clamp(wait, kShortestAway, kLongestAway),
            .before = static_cast<std::size_t>((place - now) / interval)};
}

bool LimitTracker::Configure(const std::map<std::string, model::Limit>& limits) {
    const MutexLock lock(mutex_);
    const auto same = [](const auto& line, const auto& given) {
        return line.first == given.first && line.second->limit == given.second;
    };
    if (std::ranges::equal(lines_, limits, same)) return false;
    Lines now;
    for (const auto& [key, limit] : limits) {
        const auto old = lines_.find(key);
        auto line = old == lines_.end() ? std::make_shared<Line>() : old->second;
        line->key = key;
        if (!limit.rate) {
            line->bucket.reset();
        } else if (line->bucket) {
            line->bucket->Reshape(*limit.rate);
        } else {
            line->bucket.emplace(*limit.rate);
        }
        if (line->limit != limit) line->booked_until = {};
        line->limit = limit;
        now.emplace(key, std::move(line));
    }
    lines_ = std::move(now);
    NoteActive();
    return true;
}

std::vector<LimitUse> LimitTracker::Uses(SteadyPoint now) const {
    std::map<std::string, LimitUse> uses;
    const auto use_of = [&uses](const std::string& key) -> LimitUse& {
        LimitUse& use = uses[key];
        use.kind = KindOfLimitKey(key);
        use.name = NameOfLimitKey(key);
        return use;
    };
    const MutexLock lock(mutex_);
    for (const auto& [key, line] : lines_) {
        LimitUse& use = use_of(key);
        use.limit = line->limit;
        use.in_use = line->in_use;
    }
    for (const auto& [name, host] : hosts_) {
        const Breaker& breaker = host.breaker;
        LimitUse::BreakerUse told{.state = breaker.state(), .failures = breaker.failures()};
        if (told.state == BreakerState::kOpen) {
            told.retry_in =
                std::max(std::chrono::ceil<Duration>(breaker.retry_at() - now), Duration::zero());
        }
        use_of(LimitKey(LimitKind::kHost, name)).breaker = told;
    }
    std::vector<LimitUse> list;
    for (auto& [key, use] : uses) list.push_back(std::move(use));
    return list;
}

}  // namespace ksana::engine
