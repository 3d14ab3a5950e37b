#pragma once

#include <string>
#include <string_view>

#include "ksana/exec/template_text.hpp"

namespace ksana::exec {

// K-10: in a JSON text, a string that is exactly "<filled-by-service>" under one of the keys
// job_id, run_id, exec_id, scheduled_at, triggered_at and attempt is replaced by its value, at any
// depth; attempt becomes a number. Under other keys it stays. Every other byte stays as it is.
std::string FillServiceValues(std::string body, const TemplateLookup& lookup);

}  // namespace ksana::exec
