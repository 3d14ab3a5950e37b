#pragma once

#include <cstddef>

#include "ksana/store/run_store.hpp"
#include "ksana/store_postgres/wire/connection.hpp"

namespace ksana::store_postgres {

// Locks the best of the ready runs that match; what others have locked is skipped. Each type is one
// range of the index, read no further than needed; without types they are found by leaping from one
// to the next.
Statement ClaimQuery(const store::ClaimFilter& filter, std::size_t limit,
                     const std::vector<Uuid>& held);

}  // namespace ksana::store_postgres
