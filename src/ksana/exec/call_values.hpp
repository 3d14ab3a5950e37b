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

// The id of an attempt that its target gets: the header Ksana-Exec-Id, the variable KSANA_EXEC_ID
// and the placeholder {{exec_id}}. It is a hash of the exec_id, from which the exec_id cannot be
// computed: whoever has the exec_id may report on the run, and a target may not (0043).
std::string AttemptIdOf(const model::Run& run);

// The values of an attempt's placeholders: job_id, job_name, run_id, exec_id (AttemptIdOf), tenant,
// attempt, fence, scheduled_at (the nominal time; without one, the creation time of the run),
// triggered_at (the start of the attempt), params (all parameters of the run, as JSON),
// params.NAME, and NAME alone unless it is one of the above. The attempt must outlive the object.
class CallValues {
  public:
    // Returns an error if the run's payload is neither empty nor a JSON object.
    static Result<CallValues> Make(const engine::ActiveAttempt& attempt);

    std::optional<TemplateValue> Find(std::string_view name) const;

  private:
    explicit CallValues(const engine::ActiveAttempt& attempt) : attempt_(attempt) {}

    std::optional<TemplateValue> FindBuiltIn(std::string_view name) const;
    std::optional<TemplateValue> FindParameter(std::string_view name) const;

    const engine::ActiveAttempt& attempt_;
    std::vector<codec::JsonMember> parameters_;  // by name
};

// Replaces the string "<filled-by-service>" in a JSON text under the keys job_id, run_id, exec_id,
// scheduled_at, triggered_at and attempt by the value, at any depth (K-10). attempt becomes a
// number. Under other keys the string stays. All other bytes stay as they are.
std::string FillServiceValues(std::string body, const TemplateLookup& lookup);

}  // namespace ksana::exec
