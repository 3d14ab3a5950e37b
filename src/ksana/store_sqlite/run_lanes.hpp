#pragma once

#include <cstdint>
#include <string_view>

#include "ksana/model/run.hpp"

namespace ksana::store_sqlite {

// Where a run stands in runs_lane: the lane says what it waits for, the group and the order where
// in it. The numbers of the lanes stand in SQL (statements.cpp, run_list_sql.cpp).
struct Place {
    std::int64_t lane;
    std::string_view group;  // of the run itself
    std::int64_t order;
};

// Lane                      group      order
// 0  scheduled              -          ready_at
// 1  queued and blocked     job id     ready_at
// 2  running                -          when it expires; kNoTime: never
// 3, 4  completing, held    -          ready_at
// 5… final, by state        -          finished_at
// 100 + kind  ready         type       claim rank
Place PlaceOf(const model::Run& run);

inline constexpr std::int64_t kBlockedLane = 1;
inline constexpr std::int64_t kReadyLanes = 100;

constexpr std::int64_t ReadyLane(model::ActionKind kind) {
    return kReadyLanes + static_cast<std::int64_t>(kind);
}

}  // namespace ksana::store_sqlite
