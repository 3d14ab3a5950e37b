#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/run/run.hpp"

// The fields of a run as two short blobs instead of thirty columns: SQLite takes longer for the
// columns of a row than for finding it. Only what an index needs has a column of its own
// (schema.hpp). A blob is a version, a set of bits that says which fields are not their default,
// and these fields in turn. A new field gets the next bit.

namespace ksana::store_sqlite {

struct FixedPart {
    std::int64_t policy = 0;       // its number
    bool payload_outside = false;  // in the table payloads
};

// What never changes. `out` is replaced.
void PackFixed(const model::Run& run, std::int64_t policy, bool payload_outside, std::string& out);
Result<FixedPart> UnpackFixed(std::string_view blob, model::Run& run);

// Status and updated_at. `out` is replaced; zeros may be added to it.
void PackStatus(const model::Run& run, std::string& out);
Result<void> UnpackStatus(std::string_view blob, model::Run& run);

}  // namespace ksana::store_sqlite
