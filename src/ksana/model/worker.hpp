#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/enum_names.hpp"

namespace ksana::model {

enum class WorkerState : std::uint8_t { kAlive, kDraining, kDown, kGone };

// A worker process (D-05). It draws a new incarnation at every start, so a restarted worker does
// not inherit the runs it had under the same id.
struct Worker {
    std::string id;
    Uuid incarnation;
    std::string host;
    std::string version;
    std::vector<std::string> types;
    TextMap labels;
    std::int32_t slots = 1;
    std::int32_t busy = 0;
    bool draining = false;
    bool deregistered = false;
    TimePoint registered_at{};
    TimePoint last_heartbeat_at{};

    friend bool operator==(const Worker&, const Worker&) = default;
};

// A worker without a heartbeat for longer than this counts as down (three missed heartbeats of 30
// s).
inline constexpr Duration kDefaultWorkerSilence = std::chrono::seconds(90);

WorkerState StateOf(const Worker& worker, TimePoint now, Duration silence = kDefaultWorkerSilence);

template <>
struct EnumNames<WorkerState> {
    static constexpr std::array<std::string_view, 4> kNames = {"alive", "draining", "down", "gone"};
};

}  // namespace ksana::model
