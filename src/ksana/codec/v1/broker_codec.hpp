#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::codec {

// The messages between servers and the consumers of a message broker (docs/rabbitmq.md).

// Returns what a consumer needs to carry out the attempt.
std::string TaskMessageToJson(const model::Run& run, const model::TraceSampler& sampler = {});

// What a consumer says about an attempt: RUNNING, HEARTBEAT, COMPLETED, FAILED, TIMEOUT, RELEASED
// or SNOOZED. The error lists every fault. The owner of the event is the consumer.
Result<model::RunEvent> StatusMessageFromJson(std::string_view text);

// What a server tells a consumer about one of its attempts: "cancel".
std::string DirectiveMessageToJson(const Uuid& run_id, std::string_view exec_id,
                                   std::string_view directive);

}  // namespace ksana::codec
