#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/job/action.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::model {

enum class WorkerState : std::uint8_t { kAlive, kDraining, kDown, kGone };

// A worker process (D-05), or an agent that only claims. A worker draws a new incarnation at every
// start, so a restarted worker does not inherit the runs it had under the same id.
struct Worker {
    std::string id;
    Uuid incarnation;  // nil: an agent
    std::string host;
    std::string version;
    std::vector<ActionKind> kinds = {ActionKind::kQueue};
    std::vector<std::string> types;  // of queue and handler runs; empty: any
    TextMap labels;
    std::int32_t slots = 1;
    std::int32_t busy = 0;
    bool draining = false;         // it says so itself
    bool drain_requested = false;  // a user wants it
    bool deregistered = false;
    bool agent = false;   // never registered: noted when it claims
    bool reaped = false;  // went silent, and its attempts were taken from it
    // The incarnation that this one replaced, whose attempts are lost.
    std::optional<Uuid> replaced;
    TimePoint registered_at{};
    TimePoint last_heartbeat_at{};

    friend bool operator==(const Worker&, const Worker&) = default;
};

// A worker without a heartbeat for longer than this counts as down (three missed heartbeats of 30
// s).
inline constexpr Duration kDefaultWorkerSilence = std::chrono::seconds(90);
inline constexpr Duration kDefaultWorkerHeartbeat = std::chrono::seconds(30);

// Limits on what a worker may say about itself.
inline constexpr std::int32_t kMaxWorkerSlots = 10'000;

// The label that every registered worker has: its name.
inline constexpr std::string_view kWorkerLabel = "worker";

WorkerState StateOf(const Worker& worker, TimePoint now, Duration silence = kDefaultWorkerSilence);

// The owner of the runs that a worker has claimed: NAME/INCARNATION, or the name of an agent.
std::string OwnerName(const std::string& name, const Uuid& incarnation);
std::string OwnerOf(const Worker& worker);

// The labels that a claim of the worker has: its own and kWorkerLabel.
TextMap LabelsOf(const Worker& worker);

// Whether `labels` has every label of `demanded`, with the same value.
bool HasLabels(const TextMap& labels, const TextMap& demanded);

// Whether the worker, if it is alive, may get the run: kind, type and selector. A worker calls URLs
// only for runs that demand labels; the others are for the servers.
bool Serves(const Worker& worker, const Run& run);

// Whether runs like this one may go to workers and agents at all.
bool IsForWorkers(const Run& run);

// Chooses one of `names` by rendezvous hashing: the same key gives the same name, and a name that
// comes or goes moves only the keys that are its own. Empty if there is no name.
std::string_view StickyChoice(std::string_view key, std::span<const std::string> names);

template <>
struct EnumNames<WorkerState> {
    static constexpr std::array<std::string_view, 4> kNames = {"alive", "draining", "down", "gone"};
};

}  // namespace ksana::model
