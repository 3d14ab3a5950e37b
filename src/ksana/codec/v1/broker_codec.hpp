#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::codec {

// The messages between servers and the consumers of a message broker (docs/rabbitmq.md).

// Returns what a consumer needs to carry out the attempt.
std::string TaskMessageToJson(const model::Run& run, const model::TraceSampler& sampler = {});

// Reads a message of the status queue: a consumer's report about an attempt (RUNNING, HEARTBEAT,
// COMPLETED, FAILED, TIMEOUT, RELEASED or SNOOZED), or a list of up to model::kMaxReports of them.
// The error lists every fault. The owner of each event is the consumer.
Result<std::vector<model::RunEvent>> StatusMessageFromJson(std::string_view text);

// What a server tells a consumer about one of its attempts: "cancel".
std::string DirectiveMessageToJson(const Uuid& run_id, std::string_view exec_id,
                                   std::string_view directive);

}  // namespace ksana::codec
