#include "ksana/engine/limits/limits.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "ksana/engine/limits/limit_line.hpp"
#include "ksana/model/http_url.hpp"

namespace ksana::engine {
namespace {

using model::LimitKind;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// Attempts that start within this time wait in memory, but at least kFewestWaiting and at most
// kMostKeptWaiting.
constexpr nanoseconds kWorthKeeping = seconds(10);
constexpr std::int64_t kFewestWaiting = 2;
constexpr std::int64_t kMostKeptWaiting = 64;
// The bounds of the time that an attempt is sent away for. The upper one exists because a limit may
// be raised meanwhile.
constexpr Duration kShortestAway = seconds(1);
constexpr Duration kLongestAway = std::chrono::minutes(5);

// Paths that begin with the same bytes share a breaker.
constexpr std::size_t kMostOfPath = 256;

std::string PathTargetOf(std::string_view url, const std::string& host) {
    if (host.empty()) return {};
    url.remove_prefix(std::min(url.find("://") + 3, url.size()));
    url = url.substr(0, url.find_first_of("?#"));
    const std::size_t slash = url.find('/');
    const std::string_view path = slash == std::string_view::npos ? "/" : url.substr(slash);
    return host + std::string(path.substr(0, kMostOfPath));
}

void SetTarget(std::string_view url, LimitSubject& subject) {
    subject.host = model::HostAndPortOf(url);
    subject.path = PathTargetOf(url, subject.host);
}

}  // namespace

// The limit of a type applies to its work. A callback about the end of a run counts only toward the
// host's limit.
LimitSubject SubjectOf(const model::Run& run, const model::Job* job, const CallbackCall* callback) {
    LimitSubject subject;
    if (callback != nullptr) {
        if (!callback->url.starts_with(kMailTo)) SetTarget(callback->url, subject);
        return subject;
    }
    subject.type = run.type;
    if (job == nullptr) return subject;
    subject.group = job->group;
    if (const auto* http = std::get_if<model::HttpAction>(&job->action)) {
        SetTarget(http->url, subject);
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

// All or nothing: an attempt that one limit refuses takes nothing from the others.
LimitTracker::Answer LimitTracker::TryTake(const LimitSubject& subject, SteadyPoint now) {
    Answer answer;
    bool asks = false;
    {
        const MutexLock lock(mutex_);
        answer = TryTakeLocked(subject, now, asks);
    }
    if (asks) TellNeed();
    return answer;
}

LimitTracker::Answer LimitTracker::TryTakeLocked(const LimitSubject& subject, SteadyPoint now,
                                                 bool& asks) {
    if (auto refused = AskBreaker(subject.host, now)) return *std::move(refused);
    if (auto refused = AskBreaker(subject.path, now)) return *std::move(refused);
    Answer answer;
    std::vector<std::shared_ptr<Line>> lines = LinesOf(subject);
    for (const auto& line : lines) {
        if (line->FreeAt(now) <= now) continue;
        answer.kind = Answer::Kind::kWaits;
        answer.key = line->key;
        answer.again = line->FreeAt(now);
        asks = line->Ask(now);
        return answer;
    }
    for (const auto& line : lines) line->Take(now);
    if (node_) node_->Take(now);
    answer.ticket.since = now;
    answer.ticket.lines = std::move(lines);
    answer.ticket.probe = BeginCall(subject.host);
    answer.ticket.path_probe = BeginCall(subject.path);
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
        TypeRoom room{.type = std::string(NameOfLimitKey(of.key)), .room = of.Room(now)};
        if (room.room == 0) room.again = of.FreeAt(now);
        rooms.push_back(std::move(room));
    }
    return rooms;
}

void LimitTracker::PromiseType(std::string_view type, std::size_t runs) {
    const MutexLock lock(mutex_);
    const auto line = lines_.find(LimitKey(LimitKind::kType, type));
    if (line != lines_.end()) line->second->promised = runs;
}

LimitTracker::Ticket LimitTracker::TakeType(std::string_view type, SteadyPoint now) {
    Ticket ticket;
    ticket.since = now;
    const MutexLock lock(mutex_);
    const auto line = lines_.find(LimitKey(LimitKind::kType, type));
    if (line == lines_.end()) return ticket;
    line->second->Take(now);
    ticket.lines.push_back(line->second);
    return ticket;
}

void LimitTracker::GiveBack(const Ticket& ticket, SteadyPoint now) {
    if (ticket.lines.empty()) return;
    bool tell = false;
    {
        const MutexLock lock(mutex_);
        for (const auto& line : ticket.lines) {
            line->in_use -= std::min<std::size_t>(line->in_use, 1);
            line->hold = (line->hold * 3 + std::max(now - ticket.since, nanoseconds(0))) / 4;
            line->touched = now;
            tell |= line->shared && line->share.pinned && !std::exchange(line->asks, true);
        }
    }
    if (tell) TellNeed();
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
        line->shared = options_.shared;
        if (line->limit != limit) {
            line->booked_until = {};
            line->asks = line->shared && (line->in_use > 0 || line->asks || line->share.known);
        }
        line->limit = limit;
        line->ShapeBucket();
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
        if (line->shared) {
            const bool holds = now < line->share.until;
            use.share.emplace();
            use.share->places = holds ? line->share.places : 0;
            use.share->starts = holds ? line->share.starts : 0;
        }
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
