#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/json/json_text.hpp"
#include "ksana/engine/dispatch/executor.hpp"
#include "ksana/exec/template_text.hpp"

namespace ksana::exec {

// What an attempt's placeholders stand for: job_id, job_name, run_id, exec_id, tenant, attempt,
// fence, scheduled_at (of the fire; else when the run was made), triggered_at (the attempt's
// start), params (all parameters of the run, as JSON), params.NAME, and NAME alone where it is none
// of the above. The attempt must outlive it.
class CallValues {
  public:
    // Fails when the run's payload is neither empty nor a JSON object.
    static Result<CallValues> Make(const engine::ActiveAttempt& attempt);

    std::optional<TemplateValue> Find(std::string_view name) const;

  private:
    explicit CallValues(const engine::ActiveAttempt& attempt) : attempt_(attempt) {}

    std::optional<TemplateValue> FindBuiltIn(std::string_view name) const;
    std::optional<TemplateValue> FindParameter(std::string_view name) const;

    const engine::ActiveAttempt& attempt_;
    std::vector<codec::JsonMember> parameters_;
};

// K-10: in a JSON text, a string that is exactly "<filled-by-service>" under one of the keys
// job_id, run_id, exec_id, scheduled_at, triggered_at and attempt is replaced by its value, at any
// depth; attempt becomes a number. Under other keys it stays. Every other byte stays as it is.
std::string FillServiceValues(std::string body, const TemplateLookup& lookup);

}  // namespace ksana::exec
