#include <algorithm>
#include <utility>

#include "ksana/engine/limits/limit_line.hpp"
#include "ksana/engine/limits/limits.hpp"

namespace ksana::engine {
namespace {

// How long a claim of an agent counts as a wish for tasks after it was refused.
constexpr Duration kAgentsWait = std::chrono::seconds(2);

// Never earlier than the true time.
TimePoint OnStore(SteadyPoint when, const LimitTracker::StoreTime& time) {
    return time.store + std::chrono::ceil<Duration>(when - time.steady);
}

}  // namespace

std::vector<LimitTracker::Shared> LimitTracker::SharedLimits(SteadyPoint now) const {
    std::vector<Shared> all;
    const MutexLock lock(mutex_);
    for (const auto& [key, line] : lines_) {
        const bool agents = now < line->agents_until;
        const bool concerned = now < line->share.until || line->in_use > 0 || line->promised > 0 ||
                               line->asks || line->share.known || agents;
        if (!line->shared || !concerned) continue;
        all.push_back({.key = key,
                       .in_use = line->in_use + line->promised,
                       .agents_wait = agents ? line->agents_want : 0,
                       .touched = line->touched,
                       .asks = line->asks});
    }
    return all;
}

std::optional<model::ShareOutcome> LimitTracker::Renegotiate(const std::string& key,
                                                             model::ShareRequest request,
                                                             const StoreTime& time, SteadyPoint now,
                                                             const Decide& decide) {
    const MutexLock lock(mutex_);
    const auto found = lines_.find(key);
    if (found == lines_.end()) return std::nullopt;
    Line& line = *found->second;
    std::vector<SteadyPoint> firsts;
    if (line.limit.rate) line.recent.Forget(now, line.limit.rate->per);
    for (const RecentStarts::Group& group : line.recent.groups()) {
        request.recent.push_back({.at = OnStore(group.newest, time), .count = group.count});
        firsts.push_back(group.first);
    }
    // These may have been started already.
    if (line.limit.rate && line.promised > 0) {
        request.recent.push_back(
            {.at = OnStore(now, time), .count = static_cast<std::int64_t>(line.promised)});
    }
    const std::size_t in_use = line.in_use + line.promised;
    request.in_use = static_cast<std::int64_t>(in_use);
    line.asks = false;
    model::ShareOutcome outcome = decide(line.limit, request);
    line.share.places = std::min(line.share.places, outcome.places);
    line.share.known = outcome.unmet;
    line.share.pinned =
        line.limit.max_concurrency && in_use > static_cast<std::size_t>(outcome.places);
    line.share.leaving.clear();
    for (std::size_t n = 0; n < firsts.size(); ++n) {
        if (outcome.given[n] > 0) line.share.leaving.push_back({firsts[n], outcome.given[n]});
    }
    if (outcome.starts >= line.share.starts || !line.bucket) return outcome;
    // The rest of the rate must cover the starts that stay with it.
    line.share.starts = outcome.starts;
    line.bucket->Rescale(model::RateOfShare(*line.limit.rate, outcome.starts), now);
    RecentStarts rest = line.recent;
    rest.Remove(line.share.leaving);
    line.bucket->Lack(rest.Missing(line.bucket->interval(), now), now);
    return outcome;
}

bool LimitTracker::Grant(const std::string& key, const model::ShareOutcome& outcome,
                         SteadyPoint until, SteadyPoint now) {
    const MutexLock lock(mutex_);
    const auto found = lines_.find(key);
    if (found == lines_.end()) return false;
    Line& line = *found->second;
    const bool was_over = now >= line.share.until;
    const bool grown =
        was_over || outcome.places > line.share.places || outcome.starts > line.share.starts;
    line.recent.Remove(std::exchange(line.share.leaving, {}));
    line.share.until = until;
    line.share.places = outcome.places;
    line.share.starts = outcome.starts;
    if (line.bucket)
        line.bucket->Rescale(model::RateOfShare(*line.limit.rate, outcome.starts), now);
    return grown;
}

void LimitTracker::WantType(std::string_view type, std::size_t tasks, SteadyPoint now) {
    bool asks = false;
    {
        const MutexLock lock(mutex_);
        const auto line = lines_.find(LimitKey(model::LimitKind::kType, type));
        if (line == lines_.end() || !line->second->shared) return;
        line->second->agents_want = tasks;
        line->second->agents_until = now + kAgentsWait;
        asks = line->second->Ask(now);
    }
    if (asks) TellNeed();
}

}  // namespace ksana::engine
