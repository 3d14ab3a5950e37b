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

// What an agent, a program in whatever language, asks for: runs of the queue that match (T-03). An
// empty filter takes any.
struct AgentClaim {
    std::string worker;  // who it is; owner of what it gets
    std::vector<std::string> types;
    std::vector<std::string> categories;
    std::string tenant;
    std::string creator;
    TextMap labels;  // a run's selector must be in them
    std::int32_t max = 1;
    Duration lease = std::chrono::seconds(30);
    Duration wait{};  // for the first run to be there
    friend bool operator==(const AgentClaim&, const AgentClaim&) = default;
};

// What it says about a run that it has.
enum class AgentOutcome : std::uint8_t { kSucceeded, kFailed, kSnoozed, kReleased, kHeartbeat };

// Reports, and the next claim, in one call.
struct AgentExchange {
    std::string worker;
    std::vector<RunEvent> reports;
    std::optional<AgentClaim> claim;
};

// Limits that agents meet.
inline constexpr std::int32_t kMaxClaim = 500;
inline constexpr std::size_t kMaxReports = 1'000;
inline constexpr std::size_t kMaxFilterNames = 100;
inline constexpr Duration kMinAgentLease = std::chrono::seconds(1);
inline constexpr Duration kMaxAgentLease = std::chrono::hours(24);
inline constexpr Duration kMaxPoll = std::chrono::seconds(60);
inline constexpr std::size_t kMaxExecIdLength = 100;
inline constexpr std::size_t kMaxNoteLength = 1'000;
inline constexpr std::size_t kMaxLogLines = 100;  // in one call
inline constexpr std::size_t kMaxLogLine = 2'000;
// Longer ones are cut: a failure is not refused because it has much to say.
inline constexpr std::size_t kMaxErrorText = 4'000;
inline constexpr std::size_t kMaxStack = std::size_t{32} * 1024;

template <>
struct EnumNames<AgentOutcome> {
    static constexpr std::array<std::string_view, 5> kNames = {"succeeded", "failed", "snoozed",
                                                               "released", "heartbeat"};
};

}  // namespace ksana::model
