#include "ksana/codec/member_changes.hpp"

#include <map>

#include "ksana/codec/json_text.hpp"

namespace ksana::codec {

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
    for (const auto& [name, value] : old_values) names.emplace_back(name);  // taken away
    return names;
}

}  // namespace ksana::codec
