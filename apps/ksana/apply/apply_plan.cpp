#include "apps/ksana/apply/apply_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

#include "ksana/base/ids/hash.hpp"
#include "ksana/codec/dialects/jobs_file.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "ksana/model/job/dependency.hpp"

namespace ksana::app {
namespace {

using codec::Json;

// Returns the elements that are in one list only; empty if the lists differ in their order alone.
std::vector<FieldChange> ListDifferences(const std::string& place, const Json& before,
                                         const Json& after) {
    std::multiset<std::string> gone;
    for (const Json& item : before.Items()) gone.insert(item.Compact());
    std::vector<FieldChange> added;
    for (const Json& item : after.Items()) {
        const std::string text = item.Compact();
        if (const auto same = gone.find(text); same != gone.end()) {
            gone.erase(same);
        } else {
            added.push_back({place + "[]", "", text});
        }
    }
    std::vector<FieldChange> changes;
    for (const std::string& text : gone) changes.push_back({place + "[]", text, ""});
    for (FieldChange& change : added) changes.push_back(std::move(change));
    return changes;
}

void AddDifferences(const std::string& place, const Json& before, const Json& after,
                    std::vector<FieldChange>& out) {
    if (before == after) return;
    const auto inside = [&place](const std::string& name) {
        return place.empty() ? name : place + "." + name;
    };
    if (before.IsArray() && after.IsArray()) {
        auto items = ListDifferences(place, before, after);
        for (FieldChange& change : items) out.push_back(std::move(change));
        if (!items.empty()) return;
    }
    const bool before_open = before.IsObject() || (before.IsNull() && after.IsObject());
    const bool after_open = after.IsObject() || (after.IsNull() && before.IsObject());
    if (!before_open || !after_open || (before.IsNull() && after.IsNull())) {
        out.push_back({place, before.IsNull() ? "" : before.Compact(),
                       after.IsNull() ? "" : after.Compact()});
        return;
    }
    std::map<std::string, std::pair<Json, Json>> members;
    for (const auto& [name, value] : before.Members()) members[name].first = value;
    for (const auto& [name, value] : after.Members()) members[name].second = value;
    for (const auto& [name, values] : members) {
        AddDifferences(inside(name), values.first, values.second, out);
    }
}

Result<Json> DefinitionOf(const model::JobDefinition& job) {
    return Json::Parse(codec::JobToJson(job));
}

// Returns the job without the labels of apply and without what a pause sets.
model::JobDefinition Bare(const model::JobDefinition& job) {
    model::JobDefinition bare = job;
    bare.labels.clear();
    for (const auto& [name, value] : job.labels) {
        if (name != kSetLabel && name != kHashLabel) bare.labels[name] = value;
    }
    bare.enabled = true;
    bare.paused_reason.clear();
    return bare;
}

// Hashes the form of jobs.json, which omits members with default values: a later version with more
// members computes the same hash.
std::string HashOf(const model::JobDefinition& job) {
    const model::Job bare{Bare(job)};
    const std::array<const model::Job*, 1> one = {&bare};
    return fmt::format("{:016x}", HashText(codec::JobsFileToJson(one, TimePoint{})));
}

std::string LabelOf(const model::JobDefinition& job, std::string_view label) {
    const auto found = job.labels.find(label);
    return found == job.labels.end() ? "" : found->second;
}

// A group that exists only because jobs name it has version 0 and no stored record.
std::string TagOf(const Json& thing) {
    const std::int64_t version = thing.At("/version").Int().value_or(0);
    return version > 0 ? fmt::format("\"{}\"", version) : "";
}

Result<PlanItem> PlanJob(const WantedJob& wanted, const Json* stored, const PlanOptions& options) {
    PlanItem item{ItemKind::kJob, wanted.job.id, PlanVerb::kCreate, {}, false, false, "", {}};
    model::JobDefinition job = wanted.job;
    const std::string hash = HashOf(job);
    std::optional<model::JobDefinition> there;
    if (stored != nullptr) {
        KSANA_TRY(there, codec::JobFromView(stored->Compact()));
        if (!wanted.says_enabled) {
            job.enabled = there->enabled;
            job.paused_reason = there->paused_reason;
        }
    }
    job.labels[kSetLabel] = options.set;
    job.labels[kHashLabel] = hash;
    KSANA_TRY(item.body, DefinitionOf(job));
    if (!there) return item;

    item.if_match = TagOf(*stored);
    item.adopted = LabelOf(*there, kSetLabel) != options.set;
    const std::string applied = LabelOf(*there, kHashLabel);
    const std::string found = HashOf(*there);
    item.drifted = !item.adopted && !applied.empty() && applied != found;
    // The usual case of a repeated apply: no further comparison is needed.
    if (found == hash && there->labels == job.labels && there->enabled == job.enabled &&
        there->paused_reason == job.paused_reason) {
        item.verb = PlanVerb::kSame;
        return item;
    }
    KSANA_TRY(const Json before, DefinitionOf(*there));
    item.changes = Differences(before, item.body);
    // The hash label follows the definition and is no change of its own.
    std::erase_if(item.changes, [](const FieldChange& change) {
        return change.field == fmt::format("labels.{}", kHashLabel);
    });
    const bool marked = applied == hash;
    item.verb = item.changes.empty() && marked ? PlanVerb::kSame : PlanVerb::kChange;
    return item;
}

// Calendars and groups have no labels: compares them member by member with the wanted definition.
PlanItem PlanThing(ItemKind kind, const std::string& name, Json wanted, const Json* stored) {
    PlanItem item{kind, name, PlanVerb::kCreate, {}, false, false, "", std::move(wanted)};
    if (stored == nullptr) return item;
    item.if_match = TagOf(*stored);
    Json before = *stored;
    for (const auto& [member, value] : stored->Members()) {
        // Members that the server counts or keeps beside the definition are not compared.
        const bool defines = item.body.Has("/" + member) || member == "max_concurrency" ||
                             member == "rate" || member == "description";
        if (!defines) before = before.Without("/" + member);
    }
    for (FieldChange& change : Differences(before, item.body)) {
        const bool nothing = (change.before.empty() || change.before == "\"\"") &&
                             (change.after.empty() || change.after == "\"\"");
        // If the file gives no burst, the server chooses one.
        const bool chosen = change.field == "rate.burst" && change.after.empty();
        if (!nothing && !chosen) item.changes.push_back(std::move(change));
    }
    item.verb = item.changes.empty() ? PlanVerb::kSame : PlanVerb::kChange;
    return item;
}

const Json* Find(const std::map<std::string, Json>& things, const std::string& name) {
    const auto found = things.find(name);
    return found == things.end() ? nullptr : &found->second;
}

// Returns the ids of the jobs that a stored job names.
std::vector<std::string> NeedsOf(const Json& job) {
    std::vector<std::string> ids;
    for (const Json& one : job.At("/depends_on").Items()) ids.push_back(one.TextAt("/job"));
    for (const Json& one : job.At("/schedule/jobs").Items()) ids.push_back(one.Text());
    return ids;
}

using Needs = std::map<std::string, std::vector<std::string>>;

// Returns the ids of the map so that each comes after those it needs, and else in their order. Ids
// of a cycle come in any order: the server refuses it.
std::vector<std::string> ByNeed(const std::vector<std::string>& ids, const Needs& needs) {
    std::set<std::string> begun;
    std::vector<std::string> sorted;
    // An id waits on the stack until those that it needs are in the list.
    std::vector<std::pair<std::string, bool>> stack;
    for (const std::string& id : ids) {
        stack.emplace_back(id, false);
        while (!stack.empty()) {
            const auto [one, ready] = stack.back();
            stack.pop_back();
            if (ready) {
                sorted.push_back(one);
                continue;
            }
            const auto found = needs.find(one);
            if (found == needs.end() || !begun.insert(one).second) continue;
            stack.emplace_back(one, true);
            for (const std::string& other : found->second) stack.emplace_back(other, false);
        }
    }
    return sorted;
}

void PlanDeletions(const DefinedItems& wanted, const StoredItems& stored,
                   const PlanOptions& options, Plan& plan) {
    std::set<std::string> kept;
    for (const WantedJob& job : wanted.jobs) kept.insert(job.job.id);
    const std::string label = fmt::format("/labels/{}", kSetLabel);
    std::vector<std::string> gone;
    Needs needs;
    for (const auto& [id, job] : stored.jobs) {
        if (kept.contains(id) || job.TextAt(label) != options.set) continue;
        gone.push_back(id);
        needs[id] = NeedsOf(job);
    }
    // The server keeps a job that another one needs, so these come last.
    std::vector<std::string> order = ByNeed(gone, needs);
    std::ranges::reverse(order);
    for (const std::string& id : order) {
        plan.items.push_back({ItemKind::kJob,
                              id,
                              PlanVerb::kDelete,
                              {},
                              false,
                              false,
                              TagOf(stored.jobs.at(id)),
                              {}});
    }
}

// Adds the jobs, each after those that it names.
Result<void> PlanJobs(const DefinedItems& wanted, const StoredItems& stored,
                      const PlanOptions& options, Plan& plan) {
    std::map<std::string, const WantedJob*> by_id;
    std::vector<std::string> ids;
    Needs needs;
    for (const WantedJob& job : wanted.jobs) {
        if (!by_id.emplace(job.job.id, &job).second) continue;
        ids.push_back(job.job.id);
        needs[job.job.id] = model::ParentsOf(job.job);
    }
    for (const std::string& id : ByNeed(ids, needs)) {
        KSANA_TRY(PlanItem item, PlanJob(*by_id.at(id), Find(stored.jobs, id), options));
        plan.items.push_back(std::move(item));
    }
    return {};
}

}  // namespace

std::string_view NameOf(ItemKind kind) {
    constexpr std::array<std::string_view, 3> kNames = {"calendar", "group", "job"};
    return kNames.at(static_cast<std::size_t>(kind));
}

std::size_t Plan::Count(PlanVerb verb) const {
    return static_cast<std::size_t>(std::ranges::count(items, verb, &PlanItem::verb));
}

std::vector<FieldChange> Differences(const Json& before, const Json& after) {
    std::vector<FieldChange> changes;
    AddDifferences("", before, after, changes);
    return changes;
}

Result<Plan> MakePlan(const DefinedItems& wanted, const StoredItems& stored,
                      const PlanOptions& options) {
    Plan plan;
    for (const schedule::Calendar& calendar : wanted.calendars) {
        KSANA_TRY(Json body, Json::Parse(codec::CalendarToJson(calendar)));
        plan.items.push_back(PlanThing(ItemKind::kCalendar, calendar.name, std::move(body),
                                       Find(stored.calendars, calendar.name)));
    }
    for (const codec::DefinedGroup& group : wanted.groups) {
        KSANA_TRY(Json body, Json::Parse(codec::GroupToJson(group)));
        plan.items.push_back(PlanThing(ItemKind::kGroup, group.name, std::move(body),
                                       Find(stored.groups, group.name)));
    }
    KSANA_TRY_VOID(PlanJobs(wanted, stored, options, plan));
    if (options.prune) PlanDeletions(wanted, stored, options, plan);
    return plan;
}

}  // namespace ksana::app
