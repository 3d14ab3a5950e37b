#pragma once

#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/store/run_store.hpp"
#include "ksana/store_sqlite/wire/session.hpp"

namespace ksana::store_sqlite {

// Returns the first `limit` ready runs that match, by rank and id. Reads one index range for each
// type, and in it only as far as a run can still be among the first.
Result<std::vector<model::Run>> FindReady(ReadSession& session, const store::ClaimFilter& filter,
                                          TimePoint now, std::size_t limit);

// Returns the types of the ready runs of a kind that have no selector.
Result<std::vector<std::string>> ReadyTypes(ReadSession& session, model::ActionKind kind);

}  // namespace ksana::store_sqlite
