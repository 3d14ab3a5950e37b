#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/run/decide.hpp"

namespace ksana::model {

// A request by an agent, an external program in any language, for queued runs (T-03). Empty filters
// match every run.
struct AgentClaim {
    std::string worker;  // the agent's id; becomes the owner of the claimed runs
    std::vector<std::string> types;
    std::vector<std::string> categories;
    std::vector<std::string> without;  // types that it does not want
    std::string tenant;
    std::string creator;
    TextMap labels;  // of the agent; a run matches if these contain its whole selector
    // Of a registered worker; nil: an agent.
    Uuid incarnation;
    std::vector<ActionKind> kinds = {ActionKind::kQueue};
    // Slots of a registered worker, as it registered them; 0: an agent, whose load is not known.
    std::int32_t slots = 0;
    std::int32_t max = 1;
    Duration lease = std::chrono::seconds(30);
    Duration wait{};  // how long to wait for a first run
    friend bool operator==(const AgentClaim&, const AgentClaim&) = default;
};

// What an agent reports about a run it holds. kTimedOut: it stopped the attempt at its deadline.
enum class AgentOutcome : std::uint8_t {
    kSucceeded,
    kFailed,
    kSnoozed,
    kReleased,
    kHeartbeat,
    kTimedOut,
};

// An agent's reports and its next claim, in one call.
struct AgentExchange {
    std::string worker;
    std::vector<RunEvent> reports;
    std::optional<AgentClaim> claim;
};

// Limits on what agents may send.
inline constexpr std::int32_t kMaxClaim = 500;
inline constexpr std::size_t kMaxReports = 1'000;
inline constexpr std::size_t kMaxFilterNames = 100;
inline constexpr Duration kMinAgentLease = std::chrono::seconds(1);
inline constexpr Duration kMaxAgentLease = std::chrono::hours(24);
inline constexpr Duration kMaxPoll = std::chrono::seconds(60);
inline constexpr std::size_t kMaxExecIdLength = 100;
inline constexpr std::size_t kMaxNoteLength = 1'000;
inline constexpr std::size_t kMaxLogLines = 100;  // per call
inline constexpr std::size_t kMaxLogLine = 2'000;
// Longer texts are cut, so that a long error never makes the report of a failure invalid.
inline constexpr std::size_t kMaxErrorText = 4'000;
inline constexpr std::size_t kMaxStack = std::size_t{32} * 1024;
inline constexpr std::size_t kMaxDetail = std::size_t{1} << 20;  // of a report, as JSON

template <>
struct EnumNames<AgentOutcome> {
    static constexpr std::array<std::string_view, 6> kNames = {
        "succeeded", "failed", "snoozed", "released", "heartbeat", "timed_out"};
};

}  // namespace ksana::model
