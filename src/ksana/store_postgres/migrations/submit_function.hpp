#pragma once

#include <string_view>

namespace ksana::store_postgres {

// ksana.ksana_submit: stores a task inside the caller's transaction, as TaskService does it: the
// same row, the same bounds, the same defaults. It belongs to whoever owns the tables, so that the
// caller needs no right to them. A migration step.
extern const std::string_view kSubmitFunction;

// The setting in which a server leaves its policy for tasks whose type does not say another: the
// record of a run with it.
inline constexpr std::string_view kDefaultPolicySetting = "queue.default_policy";

}  // namespace ksana::store_postgres
