#include "ksana/codec/json/merge_patch.hpp"

#include <map>
#include <string>

#include <boost/json/object.hpp>

#include "ksana/codec/json/json_text.hpp"
#include "ksana/model/job/job_tally.hpp"

namespace ksana::codec {

namespace json = boost::json;

namespace {

void DropOldSchedule(json::object& job, const json::object& patch) {
    const json::value* const change = patch.if_contains("schedule");
    if (change == nullptr || !change->is_object()) return;
    const std::string_view kind = TextAt(change->get_object(), "kind");
    json::value* const schedule = job.if_contains("schedule");
    if (kind.empty() || schedule == nullptr || !schedule->is_object()) return;
    if (TextAt(schedule->get_object(), "kind") != kind) job.erase("schedule");
}

void DropOldAction(json::object& job, const json::object& patch) {
    const std::string_view type = TextAt(patch, "type");
    const std::string was(TextAt(job, "type"));
    if (!type.empty() && type != was) job.erase(was);
}

}  // namespace

std::string_view TextAt(const json::object& object, std::string_view key) {
    const json::value* const found = object.if_contains(key);
    if (found == nullptr || !found->is_string()) return {};
    return {found->get_string().data(), found->get_string().size()};
}

void MergePatch(json::value& target, const json::value& patch) {
    const json::object* const changes = patch.if_object();
    if (changes == nullptr) {
        target = patch;
        return;
    }
    if (!target.is_object()) target = json::object();
    json::object& object = target.as_object();
    for (const auto& change : *changes) {
        if (change.value().is_null()) {
            object.erase(change.key());
        } else {
            MergePatch(object[change.key()], change.value());
        }
    }
}

void DropReplacedParts(json::object& job, const json::object& patch) {
    DropOldSchedule(job, patch);
    DropOldAction(job, patch);
}

std::vector<std::string> ChangedMembersOf(std::string_view before, std::string_view after) {
    std::vector<std::string> names;
    const auto old_members = JsonMembers(before);
    const auto new_members = JsonMembers(after);
    if (!old_members || !new_members) return names;
    std::map<std::string_view, std::string_view> old_values;
    for (const JsonMember& member : *old_members) old_values[member.name] = member.json;
    for (const JsonMember& member : *new_members) {
        const auto found = old_values.find(member.name);
        if (found == old_values.end() || found->second != member.json) names.push_back(member.name);
        if (found != old_values.end()) old_values.erase(found);
    }
    for (const auto& [name, value] : old_values) names.emplace_back(name);  // removed members
    return names;
}

}  // namespace ksana::codec
