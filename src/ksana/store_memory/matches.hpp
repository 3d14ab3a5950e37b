#pragma once

#include "ksana/store_kit/rows.hpp"

namespace ksana::store_memory {

// Whether a row is what a filter asks for: the meaning that SQL drivers are held to.
bool Matches(const store_kit::RunList& list, const model::Run& run);
bool Matches(const store_kit::JobList& list, const model::Job& job);
bool Matches(const store_kit::EventList& list, const model::AuditEvent& event);
bool Matches(const store::ClaimFilter& filter, const model::Run& run);

}  // namespace ksana::store_memory
