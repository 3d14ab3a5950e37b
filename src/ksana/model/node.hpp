#pragma once

#include <cstdint>
#include <string>

#include "ksana/base/time/time.hpp"
#include "ksana/model/enum_names.hpp"

namespace ksana::model {

enum class NodeState : std::uint8_t { kAlive, kStopping, kDown, kGone };

// A server among those that share a store (K-24). It draws a new incarnation at every start.
struct ServerNode {
    std::string name;  // stays the same over restarts if it is configured
    std::string incarnation;
    std::string address;  // URL of its API; "": it has none
    std::string version;
    std::int32_t slots = 0;
    std::int32_t busy = 0;
    Duration lease{};       // a longer silence means that it is down
    bool stopping = false;  // it starts nothing more and waits for what runs
    bool down = false;      // another server found it dead and has taken its runs back
    bool gone = false;      // it has stopped
    TimePoint started_at{};
    TimePoint heartbeat_at{};

    friend bool operator==(const ServerNode&, const ServerNode&) = default;
};

// Returns the owner of the runs that the node has claimed.
std::string OwnerOf(const ServerNode& node);

NodeState StateOf(const ServerNode& node, TimePoint now);

// How long the row of a node that is down or gone is kept.
inline constexpr Duration kKeepSilentNode = std::chrono::hours(24);
bool IsForgettable(const ServerNode& node, TimePoint now);

template <>
struct EnumNames<NodeState> {
    static constexpr std::array<std::string_view, 4> kNames = {"alive", "stopping", "down", "gone"};
};

}  // namespace ksana::model
