#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/run/run.hpp"

// Packs the fields of a run into two short blobs instead of thirty columns: SQLite spends more time
// on the columns of a row than on finding it. Only fields that an index needs have a column of
// their own (schema.hpp). A blob is a version, a bit mask of the fields that differ from their
// default, and these fields. A new field gets the next bit. Unpacking fails with kDataLoss.

namespace ksana::store_sqlite {

struct FixedPart {
    std::int64_t policy = 0;       // number of the run's policy
    bool payload_outside = false;  // the payload is in the table payloads
};

// Packs the fields that never change. Replaces `out`.
void PackFixed(const model::Run& run, std::int64_t policy, bool payload_outside, std::string& out);
Result<FixedPart> UnpackFixed(std::string_view blob, model::Run& run);

// Packs status and updated_at. Replaces `out`; the caller may append zeros as padding.
void PackStatus(const model::Run& run, std::string& out);
Result<void> UnpackStatus(std::string_view blob, model::Run& run);

}  // namespace ksana::store_sqlite
