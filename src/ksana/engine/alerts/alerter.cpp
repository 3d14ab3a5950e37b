#include "ksana/engine/alerts/alerter.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/engine/alerts/alert_notices.hpp"

namespace ksana::engine {
namespace {

using model::AlertIncident;
using model::AlertRule;
using model::IncidentState;

constexpr const char* kLock = "alerter";
constexpr std::size_t kMostNotices = 100;  // in one step
// How rarely the cursor is stored while nothing was found: what is scanned twice counts once.
constexpr Duration kKeepCursor = std::chrono::seconds(30);
// A node that works keeps the cursor more often than this.
constexpr Duration kAbandoned = std::chrono::minutes(2);
// An incident that closed longer ago than this is not found again.
constexpr Duration kSettled = std::chrono::hours(1);
constexpr std::string_view kJobPrefix = "job:";

// Returns "nightly" of "job:nightly" and "mail" of "type:mail".
std::string_view NameOfSubject(std::string_view subject) {
    return subject.substr(std::min(subject.find(':') + 1, subject.size()));
}

}  // namespace

// The rules and incidents as read at the start of a step.
struct Alerter::World {
    TimePoint now{};
    std::map<std::string, const AlertRule*> rules;  // enabled rules
    std::map<std::string, const AlertRule*> known;  // all rules
    std::map<Key, Entry> incidents;
    // Closed incidents that may be deleted for new ones, oldest last; none: not computed yet.
    std::optional<std::vector<std::pair<TimePoint, Key>>> spare;

    std::vector<const AlertRule*> Enabled() const {
        std::vector<const AlertRule*> all;
        for (const auto& [id, rule] : rules) all.push_back(rule);
        return all;
    }
};

Alerter::Alerter(store::Store& store, lock::LockDriver& locks, schedule::ZoneDatabase& zones,
                 const Clock& clock, UuidGenerator& ids, Options options)
    : store_(store),
      locks_(locks),
      zones_(zones),
      clock_(clock),
      ids_(ids),
      options_(std::move(options)),
      repository_(store),
      scanner_(store, options_.scanner) {}

Result<Step> Alerter::RunOnce() {
    Step step;
    const SteadyPoint now = clock_.SteadyNow();
    if (looked_at_ && now - *looked_at_ < options_.pause) {
        step.NotAfter(std::chrono::ceil<Duration>(*looked_at_ + options_.pause - now));
        return step;
    }
    looked_at_ = now;
    KSANA_TRY(const std::vector<StoredRule> rules, repository_.AllRules());
    has_rules_ = !rules.empty();
    if (rules.empty()) {
        cursor_.reset();
        return step;
    }
    KSANA_TRY(const bool may_look, MayLook(now));
    if (!may_look) {
        cursor_.reset();
        step.NotAfter(options_.lock / 4);
        return step;
    }
    auto looked = Look(rules);
    if (!looked) cursor_.reset();  // another node may have moved the cursor
    return looked;
}

// Returns whether this node does the work now. A lock that cannot be asked for keeps nobody from
// it. Neither does one that is refused while no node has kept a cursor for long.
Result<bool> Alerter::MayLook(SteadyPoint now) {
    const auto answer =
        locks_.Try({.key = kLock, .token = options_.owner, .ttl = options_.lock, .stamp = {}});
    if (!answer) {
        if (!std::exchange(without_lock_, true)) {
            Log(LogLevel::kWarn, "alerts go on without their lock",
                {{"locks", locks_.Location()}, {"error", answer.error().Describe()}});
        }
        return true;
    }
    without_lock_ = false;
    if (answer->grant) {
        refused_since_.reset();
        return true;
    }
    if (!refused_since_) refused_since_ = now;
    const Duration abandoned = kAbandoned + options_.lock;
    if (now - *refused_since_ < abandoned) return false;
    KSANA_TRY(const auto kept, repository_.GetCursor());
    KSANA_TRY(const TimePoint store_now, store_.Now());
    return !kept || store_now - kept->kept_at >= abandoned;
}

Result<Step> Alerter::Look(const std::vector<StoredRule>& rules) {
    KSANA_TRY(World world, Read(rules));
    const bool recovering = std::ranges::any_of(world.incidents, [](const auto& one) {
        return one.second.stored.incident.state != IncidentState::kClosed;
    });
    AlertScanner::Found found;
    if (!world.rules.empty()) {
        KSANA_TRY(found, scanner_.Look(world.Enabled(), recovering, world.now, cursor_->value));
    }
    CloseOutdated(world);
    KSANA_TRY_VOID(SendPending(world));
    KSANA_TRY_VOID(Apply(world, found.observations));
    KSANA_TRY_VOID(CloseOrphans(world));
    KSANA_TRY_VOID(Write(world));
    KSANA_TRY_VOID(KeepCursor(!found.observations.empty() || found.more));
    KSANA_TRY(const bool more, Tell(world));
    Step step;
    step.NotAfter(found.more || more ? options_.pause : 5 * options_.pause);
    return step;
}

Result<Alerter::World> Alerter::Read(const std::vector<StoredRule>& rules) {
    World world;
    KSANA_TRY(world.now, store_.Now());
    TimePoint oldest = world.now;
    for (const StoredRule& stored : rules) {
        world.known[stored.rule.id] = &stored.rule;
        if (!stored.rule.enabled) continue;
        world.rules[stored.rule.id] = &stored.rule;
        oldest = std::min(oldest, stored.rule.created_at);
    }
    KSANA_TRY(const auto incidents, repository_.AllIncidents());
    for (const StoredIncident& stored : incidents) {
        world.incidents[{stored.incident.rule, stored.incident.subject}] = {stored, false};
    }
    if (!cursor_) {
        KSANA_TRY(const auto kept, repository_.GetCursor());
        cursor_ = kept.value_or(AlertRepository::Cursor{});
        cursor_kept_at_ = clock_.SteadyNow();
    }
    codec::AlertCursor& cursor = cursor_->value;
    // Nothing before the first rule matters. After the clock was set back, the cursor must not stay
    // in the future.
    if (cursor.since == TimePoint{}) cursor.since = oldest;
    cursor.finished_at = std::clamp(cursor.finished_at, std::min(oldest, world.now), world.now);
    return world;
}

// Delivers owed notices before the incident they describe changes.
Result<void> Alerter::SendPending(World& world) {
    for (auto& [key, entry] : world.incidents) {
        const auto rule = world.known.find(key.first);
        if (!entry.stored.incident.owed || rule == world.known.end()) continue;
        KSANA_TRY_VOID(Deliver(world, entry, *rule->second));
    }
    return {};
}

Result<void> Alerter::Apply(World& world, const std::vector<RuleObservation>& observations) {
    for (const RuleObservation& found : observations) {
        const Key key(found.rule->id, found.subject);
        auto entry = world.incidents.find(key);
        if (entry == world.incidents.end()) {
            if (!found.observation.bad) continue;
            KSANA_TRY(const bool room, MakeRoom(world));
            if (!room) {
                Log(LogLevel::kError, "there are too many incidents; one is not kept",
                    {{"rule", key.first}, {"subject", key.second}});
                continue;
            }
            entry = world.incidents.emplace(key, Entry{}).first;
            entry->second.stored.incident.rule = key.first;
            entry->second.stored.incident.subject = key.second;
        }
        AlertIncident& incident = entry->second.stored.incident;
        if (model::ApplyObservation(incident, *found.rule, found.observation, ids_.Next())) {
            entry->second.changed = true;
        }
    }
    return {};
}

// Deletes the incident that closed first to make room for a new one. Keeps recently closed ones:
// they would be found again as new. Returns false if there is no room.
Result<bool> Alerter::MakeRoom(World& world) {
    if (world.incidents.size() < AlertRepository::kMaxIncidents) return true;
    if (!world.spare) {
        world.spare.emplace();
        for (const auto& [key, entry] : world.incidents) {
            const AlertIncident& incident = entry.stored.incident;
            const bool over = incident.state == IncidentState::kClosed && incident.closed_at &&
                              *incident.closed_at < world.now - kSettled && !incident.owed;
            const auto rule = world.known.find(key.first);
            const bool told = !incident.opened_at || incident.over_told ||
                              (rule != world.known.end() && !rule->second->recovery);
            if (over && told) world.spare->emplace_back(*incident.closed_at, key);
        }
        std::ranges::sort(*world.spare, std::greater());
    }
    while (!world.spare->empty()) {
        const auto found = world.incidents.find(world.spare->back().second);
        world.spare->pop_back();
        // The incident may have reopened in this step.
        if (found->second.changed) continue;
        KSANA_TRY_VOID(repository_.DeleteIncident(found->second.stored));
        world.incidents.erase(found);
        return true;
    }
    return false;
}

// Must run before the new observations are applied, which come from the current rules.
void Alerter::CloseOutdated(World& world) {
    for (auto& [key, entry] : world.incidents) {
        const auto rule = world.rules.find(key.first);
        if (rule == world.rules.end()) continue;
        if (model::CloseIfRuleChanged(entry.stored.incident, *rule->second, world.now)) {
            entry.changed = true;
        }
    }
}

// Deletes incidents whose rule is gone, and closes those whose job is gone or has left the rule's
// scope: they would never recover.
Result<void> Alerter::CloseOrphans(World& world) {
    std::vector<std::string> ids;
    for (auto entry = world.incidents.begin(); entry != world.incidents.end();) {
        const auto& [rule, subject] = entry->first;
        const StoredIncident& stored = entry->second.stored;
        if (!world.known.contains(rule)) {
            KSANA_TRY_VOID(repository_.DeleteIncident(stored));
            entry = world.incidents.erase(entry);
            continue;
        }
        const bool over = stored.incident.state == IncidentState::kClosed;
        if (!over && subject.starts_with(kJobPrefix)) {
            ids.push_back(subject.substr(kJobPrefix.size()));
        }
        ++entry;
    }
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    std::vector<model::Job> jobs;
    if (!ids.empty()) {
        KSANA_TRY(jobs, store_.jobs().GetMany(ids));
    }
    for (auto& [key, entry] : world.incidents) {
        AlertIncident& incident = entry.stored.incident;
        if (incident.state == IncidentState::kClosed) continue;
        const model::AlertScope& scope = world.known.at(key.first)->scope;
        const std::string_view name = NameOfSubject(key.second);
        bool concerned = false;
        if (key.second.starts_with(kJobPrefix)) {
            const auto job = std::ranges::find(jobs, name, &model::Job::id);
            if (job == jobs.end()) {
                model::CloseIncident(incident, "the job is gone", true, world.now);
                entry.changed = true;
                continue;
            }
            concerned = model::Concerns(scope, *job);
        } else {
            concerned = model::ConcernsTasks(scope, name);
        }
        if (concerned) continue;
        model::CloseIncident(incident, "the rule is not about it any more", false, world.now);
        entry.changed = true;
    }
    return {};
}

Result<void> Alerter::Write(World& world) {
    for (auto& [key, entry] : world.incidents) {
        if (!entry.changed) continue;
        KSANA_TRY(entry.stored, repository_.PutIncident(entry.stored, world.now));
        entry.changed = false;
        const AlertIncident& incident = entry.stored.incident;
        Log(incident.state == IncidentState::kOpen ? LogLevel::kWarn : LogLevel::kInfo,
            "an incident has changed",
            {{"rule", incident.rule},
             {"subject", incident.subject},
             {"state", model::NameOf(incident.state)},
             {"count", incident.count},
             {"message", incident.message}});
    }
    return {};
}

Result<void> Alerter::KeepCursor(bool moved) {
    const SteadyPoint now = clock_.SteadyNow();
    if (!moved && cursor_->version != 0 && now - cursor_kept_at_ < kKeepCursor) return {};
    KSANA_TRY(cursor_->version, repository_.PutCursor(*cursor_));
    cursor_kept_at_ = now;
    return {};
}

// Returns whether more notices are due.
Result<bool> Alerter::Tell(World& world) {
    std::size_t told = 0;
    for (auto& [key, entry] : world.incidents) {
        const auto rule = world.known.find(key.first);
        if (rule == world.known.end()) continue;
        AlertIncident& incident = entry.stored.incident;
        if (!incident.owed) {
            const auto& quiet = rule->second->quiet;
            const bool now_quiet = quiet && model::IsQuiet(*quiet, world.now, zones_);
            const auto due = model::DueNotice(incident, *rule->second, world.now, now_quiet);
            if (!due) continue;
            if (++told > kMostNotices) return true;
            incident.owed = model::PendingNotice{.kind = *due, .at = world.now, .ids = {}};
            for (std::size_t n = 0; n < ChannelsOf(*rule->second); ++n) {
                incident.owed->ids.push_back(ids_.Next());
            }
            KSANA_TRY(entry.stored, repository_.PutIncident(entry.stored, world.now));
        }
        KSANA_TRY_VOID(Deliver(world, entry, *rule->second));
    }
    return false;
}

// A run that already exists was made by an earlier, interrupted delivery.
Result<void> Alerter::Deliver(World& world, Entry& entry, const AlertRule& rule) {
    AlertIncident& incident = entry.stored.incident;
    std::vector<model::Run> runs = NoticeRuns(rule, incident, *incident.owed, options_.notices);
    if (!runs.empty()) {
        KSANA_TRY([[maybe_unused]] const auto submitted,
                  store_.runs().Submit({.now = {}, .runs = std::move(runs)}));
    }
    model::RecordNotice(incident, *incident.owed);
    incident.owed.reset();
    KSANA_TRY(entry.stored, repository_.PutIncident(entry.stored, world.now));
    return {};
}

}  // namespace ksana::engine
