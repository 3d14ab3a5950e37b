#include "ksana/store_kit/lists/index_choice.hpp"

#include <array>
#include <utility>

#include "ksana/model/job/job.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::store_kit {
namespace {

// Most jobs and runs have these.
const std::string& DefaultTenant() {
    static const std::string tenant = model::Run{}.tenant;
    return tenant;
}

const std::string& DefaultGroup() {
    static const std::string group = model::JobDefinition{}.group;
    return group;
}

}  // namespace

RunFilterKey NarrowestKey(const store::RunFilter& filter, RunFilterKeys indexed) {
    const std::array<std::pair<RunFilterKey, bool>, 6> asked = {
        {{RunFilterKey::kParent, filter.parent.has_value()},
         {RunFilterKey::kJob, !filter.job_id.empty()},
         {RunFilterKey::kCreator, !filter.creator.empty()},
         {RunFilterKey::kCategory, !filter.category.empty()},
         {RunFilterKey::kType, !filter.type.empty()},
         {RunFilterKey::kTenant, !filter.tenant.empty() && filter.tenant != DefaultTenant()}}};
    for (const auto& [key, wanted] : asked) {
        if (wanted && (indexed & SetOf(key)) != 0) return key;
    }
    return RunFilterKey::kNone;
}

store::RunFilter Without(store::RunFilter filter, RunFilterKey key) {
    switch (key) {
        case RunFilterKey::kNone:
            break;
        case RunFilterKey::kParent:
            filter.parent.reset();
            break;
        case RunFilterKey::kJob:
            filter.job_id.clear();
            break;
        case RunFilterKey::kCreator:
            filter.creator.clear();
            break;
        case RunFilterKey::kCategory:
            filter.category.clear();
            break;
        case RunFilterKey::kType:
            filter.type.clear();
            break;
        case RunFilterKey::kTenant:
            filter.tenant.clear();
            break;
    }
    return filter;
}

bool IsOpen(const store::RunFilter& filter) {
    store::RunFilter open;
    open.text = filter.text;
    return filter == open;
}

JobFilterKeyChoice NarrowestKey(const store::JobFilter& filter, bool default_group_indexed) {
    if (!filter.labels.empty()) return {.key = JobFilterKey::kLabel, .value = {}};
    if (!filter.name.empty()) return {.key = JobFilterKey::kName, .value = filter.name};
    if (!filter.calendar.empty()) return {.key = JobFilterKey::kCalendar, .value = filter.calendar};
    if (!filter.owner.empty()) return {.key = JobFilterKey::kOwner, .value = filter.owner};
    if (!filter.type.empty()) return {.key = JobFilterKey::kType, .value = filter.type};
    const bool group = default_group_indexed || filter.group != DefaultGroup();
    if (!filter.group.empty() && group) return {.key = JobFilterKey::kGroup, .value = filter.group};
    if (!filter.tenant.empty() && filter.tenant != DefaultTenant()) {
        return {.key = JobFilterKey::kTenant, .value = filter.tenant};
    }
    return {};
}

}  // namespace ksana::store_kit
