#pragma once

#include <cstdint>

#include "ksana/base/error/result.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store_sqlite/wire/session.hpp"

// What few runs have and some queries ask for, kept beside the table instead of in its indexes, so
// that all other runs do not pay for it. Of these run_tags serves lists, ready_tags claims.

namespace ksana::store_sqlite {

enum class Tag : std::uint8_t { kTenant = 1, kCategory = 2, kCreator = 3, kParent = 4 };

bool HasTags(const model::Run& run);

// After the run was inserted.
Result<void> InsertTags(ReadSession& session, const model::Run& run);
// Before its row is updated to `run`: what the row says now tells what to take out.
Result<void> MoveTags(ReadSession& session, const model::Run& run);
// Before its row is deleted.
Result<void> DeleteTags(ReadSession& session, const model::Run& run);

}  // namespace ksana::store_sqlite
