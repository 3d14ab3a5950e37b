#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::store_sqlite {

// Where a run stands in runs_place: the lane says what it waits for, group, order and id where in
// it. All of it is one text that sorts by its bytes, as SQLite compares one text several times
// faster than four columns.
//
// Lane                      group      order
// 0  scheduled              -          ready_at
// 1  queued and blocked     job id     ready_at
// 2  running                -          when it expires; kNoTime: never
// 3, 4  completing, held    -          ready_at
// 5… final, by state        -          finished_at
// 100 + kind  ready         type       claim rank
// 120 + kind  ready, only for workers with labels: type and selector, claim rank
using Lane = std::uint8_t;

inline constexpr Lane kScheduledLane = 0;
inline constexpr Lane kBlockedLane = 1;
inline constexpr Lane kRunningLane = 2;
inline constexpr Lane kReadyLanes = 100;
inline constexpr Lane kSelectiveLanes = 120;
inline constexpr Lane kLastLane = 254;

// Of every state but queued.
constexpr Lane LaneOf(model::RunState state) { return static_cast<Lane>(state); }
constexpr Lane ReadyLane(model::ActionKind kind) {
    return static_cast<Lane>(kReadyLanes + static_cast<Lane>(kind));
}

constexpr Lane SelectiveLane(model::ActionKind kind) {
    return static_cast<Lane>(kSelectiveLanes + static_cast<Lane>(kind));
}

// The group of a selective lane, so that a claim passes over what is for other workers.
std::string SelectiveGroup(std::string_view type, const TextMap& selector);
struct Selective {
    std::string type;
    TextMap selector;
};
Selective ReadSelectiveGroup(std::string_view group);

// `out` is replaced.
void PutPlace(const model::Run& run, std::string& out);

// A place taken apart.
struct Place {
    Lane lane = 0;
    std::string_view group;
    std::int64_t order = 0;
};
Place ReadPlace(std::string_view text);

// Places from `from` on and before `to`.
struct PlaceRange {
    std::string from;
    std::string to;
};
// Lanes first…last.
PlaceRange InLanes(Lane first, Lane last);
PlaceRange InLane(Lane lane);
PlaceRange InGroup(Lane lane, std::string_view group);
// Of a group, what has no higher order.
PlaceRange UpTo(Lane lane, std::string_view group, std::int64_t order);
// Of a lane, the groups after this one.
PlaceRange AfterGroup(Lane lane, std::string_view group);
// The first place of this order in a lane without groups, and the one of a run.
std::string FirstPlace(Lane lane, std::int64_t order);
std::string PlaceAt(Lane lane, std::int64_t order, const Uuid& id);

// Whether such a run stands in runs_final, and where: by state and id.
constexpr bool HasFinalKey(model::RunState state) {
    return model::IsFinal(state) && state != model::RunState::kSucceeded;
}
std::string FinalKey(model::RunState state, const Uuid& id);

}  // namespace ksana::store_sqlite
