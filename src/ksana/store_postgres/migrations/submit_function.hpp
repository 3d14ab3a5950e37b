#pragma once

#include <string_view>

namespace ksana::store_postgres {

// SQL of the migration step that creates ksana.ksana_submit. The function stores a task inside the
// caller's transaction, with the same row, bounds and defaults as TaskService. It runs with the
// rights of the owner of the tables (SECURITY DEFINER), so its caller needs no rights to them.
extern const std::string_view kSubmitFunction;

// Key of the setting in which a server stores its default policy for tasks, as the record of a run
// with that policy. A task type overrides it.
inline constexpr std::string_view kDefaultPolicySetting = "queue.default_policy";

}  // namespace ksana::store_postgres
