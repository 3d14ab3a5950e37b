#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::store_sqlite {

// Position of a run in the index runs_place: the lane says what the run waits for, and group, order
// and id say where it is in the lane. All four are one text that sorts by its bytes, because SQLite
// compares one text several times faster than four columns.
//
// Lane                      group      order
// 0  scheduled              -          ready_at
// 1  queued and blocked     job id     ready_at
// 2  running                -          when it expires; kNoTime: never
// 3, 4  completing, held    -          ready_at
// 5… final, by state        -          finished_at
// 50 queued, waits for other jobs: no group, when it is looked at
// 100 + kind  ready         type       claim rank
// 120 + kind  ready, only for workers with labels: type and selector, claim rank
using Lane = std::uint8_t;

inline constexpr Lane kScheduledLane = 0;
inline constexpr Lane kBlockedLane = 1;
inline constexpr Lane kRunningLane = 2;
inline constexpr Lane kAwaitingLane = 50;
inline constexpr Lane kReadyLanes = 100;
inline constexpr Lane kSelectiveLanes = 120;
inline constexpr Lane kLastLane = 254;

// For every state but queued.
constexpr Lane LaneOf(model::RunState state) { return static_cast<Lane>(state); }
constexpr Lane ReadyLane(model::ActionKind kind) {
    return static_cast<Lane>(kReadyLanes + static_cast<Lane>(kind));
}

constexpr Lane SelectiveLane(model::ActionKind kind) {
    return static_cast<Lane>(kSelectiveLanes + static_cast<Lane>(kind));
}

// Returns the group of a selective lane, so that a claim skips the runs for other workers.
std::string SelectiveGroup(std::string_view type, const TextMap& selector);
struct Selective {
    std::string type;
    TextMap selector;
};
Selective ReadSelectiveGroup(std::string_view group);

// Writes the place of the run to `out`, which is replaced.
void PutPlace(const model::Run& run, std::string& out);

// The parts of a place.
struct Place {
    Lane lane = 0;
    std::string_view group;
    std::int64_t order = 0;
};
Place ReadPlace(std::string_view text);

// Places >= `from` and < `to`.
struct PlaceRange {
    std::string from;
    std::string to;
};
// Lanes from `first` to `last`, both included.
PlaceRange InLanes(Lane first, Lane last);
PlaceRange InLane(Lane lane);
PlaceRange InGroup(Lane lane, std::string_view group);
// The places of a group with an order up to `order`.
PlaceRange UpTo(Lane lane, std::string_view group, std::int64_t order);
// The groups of a lane after this one.
PlaceRange AfterGroup(Lane lane, std::string_view group);
// Return the first place with this order in a lane without groups, and the place of a run there.
std::string FirstPlace(Lane lane, std::int64_t order);
std::string PlaceAt(Lane lane, std::int64_t order, const Uuid& id);

// Whether runs in this state are in runs_final; FinalKey is their key there: state and id.
constexpr bool HasFinalKey(model::RunState state) {
    return model::IsFinal(state) && state != model::RunState::kSucceeded;
}
std::string FinalKey(model::RunState state, const Uuid& id);

}  // namespace ksana::store_sqlite
