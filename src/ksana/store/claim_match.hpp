#pragma once

#include "ksana/store/run_store.hpp"

namespace ksana::store {

// Whether a run is one of those that are asked for: the meaning that conditions in SQL are held to.
bool Matches(const ClaimFilter& filter, const model::Run& run);

}  // namespace ksana::store
