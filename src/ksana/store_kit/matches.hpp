#pragma once

#include "ksana/store_kit/rows.hpp"

namespace ksana::store_kit {

// Whether a row is what a filter asks for: the meaning that conditions in SQL are held to.
bool Matches(const RunList& list, const model::Run& run);
bool Matches(const JobList& list, const model::Job& job);
bool Matches(const EventList& list, const model::AuditEvent& event);

}  // namespace ksana::store_kit
