#pragma once

#include <cstddef>

#include "ksana/store/run_store.hpp"
#include "ksana/store_postgres/wire/names.hpp"

namespace ksana::store_postgres {

// Returns the statement that locks the first `limit` ready runs by rank that match `filter`. Rows
// locked by other transactions are skipped, and so are the ids in `held` (held_runs.hpp). Each type
// is one range of the index, read no further than needed; without types in the filter the statement
// finds them by skipping through the index from one type to the next.
Statement ClaimQuery(const store::ClaimFilter& filter, TimePoint now, std::size_t limit,
                     const std::vector<Uuid>& held);

}  // namespace ksana::store_postgres
