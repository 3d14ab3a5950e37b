#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/model/job/job.hpp"

namespace ksana::codec {

// An audit event as /api/v1 shows it. What is empty is left out.
std::string AuditEventToJson(const model::AuditEvent& event);

// The data of an event: texts by name, those that are empty left out, and the names of the members
// of a definition that were changed (null: it is not about that).
std::string AuditDataToJson(const std::vector<std::pair<std::string_view, std::string>>& texts,
                            const std::vector<std::string>* changed = nullptr);

// The names of the members in which two definitions of a job differ. Names only: what a header or
// a payload holds may be a secret, and must not outlive its change in an audit.
std::vector<std::string> ChangedMembers(const model::Job& before, const model::Job& after);

extern const NamedSchema kAuditEventSchema;

}  // namespace ksana::codec
