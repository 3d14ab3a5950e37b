#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ksana/model/run/wait_cause.hpp"

namespace ksana::codec {

// {"waits": {"reason": "limited", "for": "group:etl", "before": 3}}, as the detail of a run has it.
std::string WaitCauseToDetail(const model::WaitCause& cause);
// Nothing for any other detail.
std::optional<model::WaitCause> WaitCauseFromDetail(std::string_view detail);

}  // namespace ksana::codec
