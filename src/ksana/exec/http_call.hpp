#pragma once

#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/engine/dispatch/executor.hpp"
#include "ksana/http_client/call.hpp"

namespace ksana::exec {

struct HttpCallOptions {
    Duration connect_timeout = std::chrono::seconds(10);  // at most the attempt's own
    std::size_t max_read = 1 << 20;  // of an answer; beyond it the connection is closed
};

// "ksana/0.1.0"
std::string UserAgent();

// The call that carries out an attempt of an HTTP job (K-01, K-10): its action with placeholders
// filled, the headers that Ksana adds, and the time that is left of the attempt. A job's own
// headers win over ours, except for those named Ksana-… and X-Ksana-….
// A callback's is what the callback says, signed where it is to be (webhook_signature.hpp).
// Fails with kDeadlineExceeded when no time is left, else with what makes the job impossible.
Result<http_client::CallRequest> BuildCall(const engine::ActiveAttempt& attempt, TimePoint now,
                                           const HttpCallOptions& options = {});

}  // namespace ksana::exec
