#pragma once

#include <string>
#include <string_view>
#include <vector>

// Inside codec/ only.

namespace ksana::codec {

// The names of the members in which two JSON objects of ours differ.
std::vector<std::string> ChangedMembersOf(std::string_view before, std::string_view after);

}  // namespace ksana::codec
