#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/run/agent.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::codec {

class ObjectReader;

// Bodies of the agent protocol (docs/api.md). Readers report every fault, including values outside
// the bounds of model/run/agent.hpp.

Result<model::AgentClaim> AgentClaimFromJson(std::string_view text);

// Reads a report about one run, whose id the path or the exchange names. Accepts only the members
// of this outcome.
Result<model::Event> AgentReportFromJson(std::string_view text, model::AgentOutcome outcome);

// Reads the members of a report by a consumer of the message broker; no outcome: it has begun the
// attempt (kTake).
void ReadConsumerReport(ObjectReader& object, std::optional<model::AgentOutcome> outcome,
                        model::Event& out);

Result<model::AgentExchange> AgentExchangeFromJson(std::string_view text, std::size_t max_bytes);

// Returns {"runs": […]} with what an agent needs for each run. Times are durations from now in
// seconds, so that the agent's clock may be wrong.
// Runs of other kinds than tasks come with their records and the definitions of their jobs, as far
// as `jobs` has them. `drain`: the worker is to take no more.
std::string ClaimedRunsToJson(std::span<const model::Run> runs,
                              std::span<const model::Job> jobs = {}, bool drain = false,
                              const model::TraceSampler& sampler = {});

// The outcome of one report of an exchange.
struct ReportAnswer {
    Uuid run_id;
    std::string_view verdict;  // a string literal
    std::string reason;
    std::vector<std::string_view> directives;
};

// Returns the start of an answer to an exchange. ExchangeToJson adds the runs, which may come
// later, and its end.
std::string ReportAnswersToJson(std::span<const ReportAnswer> answers);
std::string ExchangeToJson(std::string reports, std::span<const model::Run> runs,
                           std::span<const model::Job> jobs = {}, bool drain = false,
                           const model::TraceSampler& sampler = {});

std::string HeartbeatToJson(Duration lease, std::span<const std::string_view> directives);

extern const NamedSchema kAgentClaimSchema;
extern const NamedSchema kClaimedRunsSchema;
extern const NamedSchema kAgentHeartbeatSchema;
extern const NamedSchema kAgentDirectivesSchema;
extern const NamedSchema kAgentSuccessSchema;
extern const NamedSchema kAgentFailureSchema;
extern const NamedSchema kAgentSnoozeSchema;
extern const NamedSchema kAgentReleaseSchema;
extern const NamedSchema kAgentExchangeSchema;
extern const NamedSchema kAgentExchangedSchema;

}  // namespace ksana::codec
