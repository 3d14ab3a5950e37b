#pragma once

#include <variant>

#include "ksana/model/audit_event.hpp"
#include "ksana/model/document.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/job/plan.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::model {

// Any value that a store keeps. An export is a sequence of records.
using Record = std::variant<Job, Run, Attempt, LedgerEntry, AuditEvent, Document>;

}  // namespace ksana::model
