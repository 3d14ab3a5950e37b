#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/model/job/job.hpp"

namespace ksana::codec {

// Returns an audit event as /api/v1 shows it, without empty members.
std::string AuditEventToJson(const model::AuditEvent& event);

// Returns the data of an event: texts by name, without empty ones, and the names of the changed
// members of a definition (null: the event is not a change of one).
std::string AuditDataToJson(const std::vector<std::pair<std::string_view, std::string>>& texts,
                            const std::vector<std::string>* changed = nullptr);

// Returns the names of the members in which two definitions of a job differ. Names only: the value
// of a header or payload may be a secret, and must not outlive its change in the audit.
std::vector<std::string> ChangedMembers(const model::Job& before, const model::Job& after);

extern const NamedSchema kAuditEventSchema;

}  // namespace ksana::codec
