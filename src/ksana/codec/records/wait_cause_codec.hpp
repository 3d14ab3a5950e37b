#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ksana/model/run/wait_cause.hpp"

namespace ksana::codec {

// Returns {"waits": {"reason": "limited", "for": "group:etl", "before": 3}}, the detail of a run
// that waits.
std::string WaitCauseToDetail(const model::WaitCause& cause);
// Returns nothing for any other detail.
std::optional<model::WaitCause> WaitCauseFromDetail(std::string_view detail);

}  // namespace ksana::codec
