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

RunKey NarrowestKey(const store::RunFilter& filter, RunKeys indexed) {
    const std::array<std::pair<RunKey, bool>, 6> asked = {
        {{RunKey::kParent, filter.parent.has_value()},
         {RunKey::kJob, !filter.job_id.empty()},
         {RunKey::kCreator, !filter.creator.empty()},
         {RunKey::kCategory, !filter.category.empty()},
         {RunKey::kType, !filter.type.empty()},
         {RunKey::kTenant, !filter.tenant.empty() && filter.tenant != DefaultTenant()}}};
    for (const auto& [key, wanted] : asked) {
        if (wanted && (indexed & SetOf(key)) != 0) return key;
    }
    return RunKey::kNone;
}

store::RunFilter Without(store::RunFilter filter, RunKey key) {
    switch (key) {
        case RunKey::kNone:
            break;
        case RunKey::kParent:
            filter.parent.reset();
            break;
        case RunKey::kJob:
            filter.job_id.clear();
            break;
        case RunKey::kCreator:
            filter.creator.clear();
            break;
        case RunKey::kCategory:
            filter.category.clear();
            break;
        case RunKey::kType:
            filter.type.clear();
            break;
        case RunKey::kTenant:
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

JobKeyChoice NarrowestKey(const store::JobFilter& filter, bool default_group_indexed) {
    if (!filter.labels.empty()) return {.key = JobKey::kLabel, .value = {}};
    if (!filter.name.empty()) return {.key = JobKey::kName, .value = filter.name};
    if (!filter.calendar.empty()) return {.key = JobKey::kCalendar, .value = filter.calendar};
    if (!filter.owner.empty()) return {.key = JobKey::kOwner, .value = filter.owner};
    if (!filter.type.empty()) return {.key = JobKey::kType, .value = filter.type};
    const bool group = default_group_indexed || filter.group != DefaultGroup();
    if (!filter.group.empty() && group) return {.key = JobKey::kGroup, .value = filter.group};
    if (!filter.tenant.empty() && filter.tenant != DefaultTenant()) {
        return {.key = JobKey::kTenant, .value = filter.tenant};
    }
    return {};
}

}  // namespace ksana::store_kit
