#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/run/agent.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::codec {

// The bodies of the agent protocol (docs/api.md). Every fault is named, those of the bounds in
// model/run/agent.hpp included.

Result<model::AgentClaim> AgentClaimFromJson(std::string_view text);

// A report about one run, whose id stands elsewhere: what the outcome has to say, and no more.
Result<model::Event> AgentReportFromJson(std::string_view text, model::AgentOutcome outcome);

Result<model::AgentExchange> AgentExchangeFromJson(std::string_view text, std::size_t max_bytes);

// {"runs": […]}: what an agent needs to work on each. Times are told as durations from now in
// seconds, so that its clock may be wrong.
std::string ClaimedRunsToJson(std::span<const model::Run> runs);

// What became of a report of an exchange.
struct ReportAnswer {
    Uuid run_id;
    std::string_view verdict;  // a literal
    std::string reason;
    std::vector<std::string_view> directives;
};

// The answer to an exchange, without the runs and what closes it: they may come later.
std::string ReportAnswersToJson(std::span<const ReportAnswer> answers);
std::string ExchangeToJson(std::string reports, std::span<const model::Run> runs);

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
