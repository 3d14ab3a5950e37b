#pragma once

#include <cstdint>

#include "ksana/base/error/result.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store_sqlite/wire/session.hpp"

// Tags are values that few runs have and some queries ask for. They are in tables of their own
// instead of indexes of runs, so that other runs do not pay for them: run_tags is for lists,
// ready_tags for claims.

namespace ksana::store_sqlite {

enum class Tag : std::uint8_t { kTenant = 1, kCategory = 2, kCreator = 3, kParent = 4 };

bool HasTags(const model::Run& run);

// Call after the run was inserted.
Result<void> InsertTags(ReadSession& session, const model::Run& run);
// Call before the row is updated to `run`: the stored row says which tags to remove.
Result<void> MoveTags(ReadSession& session, const model::Run& run);
// Call before the row is deleted.
Result<void> DeleteTags(ReadSession& session, const model::Run& run);

}  // namespace ksana::store_sqlite
