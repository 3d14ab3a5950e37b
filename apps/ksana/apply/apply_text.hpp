#pragma once

#include <string>

#include "apps/ksana/apply/apply_plan.hpp"
#include "apps/ksana/toolkit/style.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

// Formats the plan for people: "+ job a", "~ job b" with the members that differ, "- job c", "= 3
// the same", and notes about changes by hand.
std::string PlanText(const Plan& plan, const Style& style);

// "1 to create, 2 to change, 0 to delete, 3 the same"
std::string PlanSummary(const Plan& plan);

// Formats the plan for programs. `done` is the number of changes that were made.
codec::Json PlanToJson(const Plan& plan, const std::string& set, std::size_t done);

}  // namespace ksana::app
