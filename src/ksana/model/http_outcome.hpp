#pragma once

#include "ksana/model/run.hpp"

namespace ksana::model {

// What an HTTP status means for a run (K-09): 2xx is success; 408, 425, 429 and 5xx may be tried
// again; everything else, redirects included, is a permanent failure.
constexpr EventKind OutcomeOfHttpStatus(int status) {
    if (status >= 200 && status <= 299) return EventKind::kSuccess;
    const bool again =
        status == 408 || status == 425 || status == 429 || (status >= 500 && status <= 599);
    return again ? EventKind::kRetryableFailure : EventKind::kPermanentFailure;
}

}  // namespace ksana::model
