#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

// Used inside codec/ only: what the dialects share for partial changes of a job.

namespace ksana::codec {

// Applies a merge patch (RFC 7396): members that are not named stay, null removes one. Recurses as
// deep as the patch, whose depth ParseJson has limited.
void MergePatch(boost::json::value& target, const boost::json::value& patch);

// Prepares the JSON of a job for a patch. A schedule of another kind, or an action of another type,
// replaces the old one as a whole, because the remains of the old one would be faults.
void DropReplacedParts(boost::json::object& job, const boost::json::object& patch);

// Returns the text of a member, or "" if there is none.
std::string_view TextAt(const boost::json::object& object, std::string_view key);

}  // namespace ksana::codec

// Used inside codec/ only.

namespace ksana::codec {

// Returns the names of the members in which two JSON objects differ. Empty if either is not a JSON
// object.
std::vector<std::string> ChangedMembersOf(std::string_view before, std::string_view after);

}  // namespace ksana::codec
