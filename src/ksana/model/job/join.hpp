#pragma once

#include <string>

#include "ksana/base/text/text_map.hpp"

namespace ksana::model {

// What a job with an `after` schedule and `join: all` knows between two fires: which of the other
// jobs have ended since the last one. Stored as a document (kJoinKind) under the id of the job.
struct Join {
    TextMap ended;  // id of the other job → time of the end, RFC 3339
    friend bool operator==(const Join&, const Join&) = default;
};

inline constexpr const char* kJoinKind = "join";

}  // namespace ksana::model
