#pragma once

#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/store/run_store.hpp"
#include "ksana/store_sqlite/wire/session.hpp"

namespace ksana::store_sqlite {

// The best ready runs that match, by rank and id. An index range for every type, and within it
// only as far as runs can still be among the best.
Result<std::vector<model::Run>> FindReady(ReadSession& session, const store::ClaimFilter& filter,
                                          std::size_t limit);

// The types that ready runs of a kind have which are for any worker.
Result<std::vector<std::string>> ReadyTypes(ReadSession& session, model::ActionKind kind);

}  // namespace ksana::store_sqlite
