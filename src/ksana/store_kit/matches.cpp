#include "ksana/store_kit/matches.hpp"

#include <algorithm>

#include "ksana/store/text_search.hpp"

namespace ksana::store_kit {
namespace {

// An empty wish is met by anything.
bool Is(const std::string& wanted, const std::string& value) {
    return wanted.empty() || wanted == value;
}

template <class T>
bool Is(const std::optional<T>& wanted, const T& value) {
    return !wanted || *wanted == value;
}

bool FinishedWithin(const store::RunFilter& filter, const model::Run& run) {
    const auto& finished = run.status.finished_at;
    if (filter.finished_from && (!finished || *finished < *filter.finished_from)) return false;
    return !filter.finished_until || (finished && *finished < *filter.finished_until);
}

bool HasAll(const TextMap& wanted, const TextMap& there) {
    return std::ranges::all_of(wanted, [&](const auto& pair) {
        const auto found = there.find(pair.first);
        return found != there.end() && found->second == pair.second;
    });
}

}  // namespace

bool Matches(const RunList& list, const model::Run& run) {
    const store::RunFilter& filter = list.filter;
    return (filter.states & model::SetOf(run.status.state)) != 0 && Is(filter.tenant, run.tenant) &&
           Is(filter.job_id, run.job_id) && Is(filter.type, run.type) &&
           Is(filter.category, run.category) && Is(filter.creator, run.creator) &&
           Is(filter.owner, run.status.owner) && Is(filter.kind, run.kind) &&
           Is(filter.trigger, run.trigger) && (!filter.parent || filter.parent == run.parent) &&
           FinishedWithin(filter, run) &&
           store::ContainsWords(list.words, {run.type, run.category, run.creator, run.job_id,
                                             run.status.last_error});
}

bool Matches(const JobList& list, const model::Job& job) {
    const store::JobFilter& filter = list.filter;
    const std::string type = store::RunTypeOf(job);
    return Is(filter.tenant, job.tenant) && Is(filter.name, job.name) &&
           Is(filter.group, job.group) && Is(filter.owner, job.owner) &&
           Is(filter.enabled, job.enabled) && Is(filter.kind, model::KindOf(job.action)) &&
           Is(filter.type, type) && (!filter.last_state || filter.last_state == job.last_state) &&
           Is(filter.calendar, job.schedule.calendar) && HasAll(filter.labels, job.labels) &&
           store::ContainsWords(list.words, {job.id, job.name, job.owner, type, job.last_error});
}

bool Matches(const EventList& list, const model::AuditEvent& event) {
    const store::EventFilter& filter = list.filter;
    return Is(filter.tenant, event.tenant) && Is(filter.user, event.user) &&
           Is(filter.action, event.action) && Is(filter.resource_type, event.resource_type) &&
           Is(filter.resource_id, event.resource_id) &&
           (!filter.from || event.at >= *filter.from) &&
           (!filter.until || event.at < *filter.until);
}

}  // namespace ksana::store_kit
