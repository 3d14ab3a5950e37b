#pragma once

#include <functional>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/engine/dispatch/executor.hpp"
#include "ksana/http_client/call.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::exec {

struct HttpCallOptions {
    // Also bounded by the timeout of the attempt.
    Duration connect_timeout = std::chrono::seconds(10);
    std::size_t max_read = 1 << 20;  // bytes of an answer, after which the connection is closed
    model::TraceSampler sampler;     // for the header traceparent
    // Returns the keys of a type, by which calls with HttpAction::sign_as are signed. Empty: none
    // are known here.
    std::function<Result<engine::SigningKeys>(const std::string& type)> keys_of = {};
};

// Returns "ksana/" and the version, such as "ksana/0.1.0".
std::string UserAgent();

// Builds the call for an attempt of an HTTP job (K-01, K-10): the action with placeholders filled
// in, Ksana's own headers, and the remaining time of the attempt as timeout. The job's headers
// override Ksana's, except those named Ksana-… and X-Ksana-…. For a callback, builds the call that
// the callback specifies, signed if required (webhook_signature.hpp). Returns kDeadlineExceeded if
// no time is left, otherwise kInvalidArgument or kNotFound with the reason why the call is
// impossible; errors of HttpCallOptions::keys_of are passed on.
Result<http_client::CallRequest> BuildCall(const engine::ActiveAttempt& attempt, TimePoint now,
                                           const HttpCallOptions& options = {});

}  // namespace ksana::exec
