#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

// Inside codec/ only. What the dialects have in common when a job is changed in parts.

namespace ksana::codec {

// RFC 7396: members that are not named stay, null takes one away. As deep as the patch, which
// ParseJson has bounded.
void MergePatch(boost::json::value& target, const boost::json::value& patch);

// Prepares the JSON of a job for a patch: a schedule of another kind, and an action of another
// type, take the place of the old one as a whole, as what is left of the old would be faults.
void DropReplacedParts(boost::json::object& job, const boost::json::object& patch);

// The text of a member; empty where there is none.
std::string_view TextAt(const boost::json::object& object, std::string_view key);

}  // namespace ksana::codec

// Inside codec/ only.

namespace ksana::codec {

// The names of the members in which two JSON objects of ours differ.
std::vector<std::string> ChangedMembersOf(std::string_view before, std::string_view after);

}  // namespace ksana::codec
