#include "ksana/store_sqlite/rows/run_lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "ksana/base/ids/random.hpp"

namespace ksana::store_sqlite {
namespace {

using model::RunState;

model::Run Queued(const std::string& type, std::int64_t ready_at, Random& random) {
    model::Run run;
    random.Fill(run.id.bytes);
    run.type = type;
    run.status.state = RunState::kQueued;
    run.status.ready_at = TimePoint(Duration(ready_at));
    return run;
}

std::string PlaceTextOf(const model::Run& run) {
    std::string text;
    PutPlace(run, text);
    return text;
}

bool IsIn(const PlaceRange& range, const model::Run& run) {
    const std::string text = PlaceTextOf(run);
    return range.from <= text && text < range.to;
}

// Types with a common prefix, with the lowest possible character at the end, and with non-ASCII
// bytes.
const std::vector<std::string> kTypes = {"", "a", "a\x01", "ab", "\xc3\xa9", "z"};

TEST(RunLanesTest, PlacesSortByTypeThenRankThenId) {
    SeededRandom random(3);
    std::vector<model::Run> runs;
    for (int i = 0; i < 300; ++i) {
        const auto ready = static_cast<std::int64_t>(random.Below(5)) * 1'000 - 2'000;
        runs.push_back(Queued(kTypes.at(random.Below(kTypes.size())), ready, random));
    }
    std::ranges::sort(runs, {}, PlaceTextOf);
    const auto key = [](const model::Run& run) {
        return std::tuple(run.type, run.status.ready_at, run.id);
    };
    EXPECT_TRUE(std::ranges::is_sorted(runs, {}, key));
}

TEST(RunLanesTest, APlaceSaysWhereItIs) {
    SeededRandom random(4);
    for (const std::string& type : kTypes) {
        const std::string text = PlaceTextOf(Queued(type, -5, random));
        const Place place = ReadPlace(text);
        EXPECT_EQ(place.lane, ReadyLane(model::ActionKind::kQueue));
        EXPECT_EQ(place.group, type);
    }
    model::Run run = Queued("t", 5, random);
    run.status.state = RunState::kScheduled;
    EXPECT_EQ(ReadPlace(PlaceTextOf(run)).order, 5);
    run.status.state = RunState::kFailed;
    run.status.finished_at = TimePoint(Duration(-7));
    EXPECT_EQ(ReadPlace(PlaceTextOf(run)).order, -7);
    EXPECT_EQ(PlaceTextOf(run), PlaceAt(LaneOf(RunState::kFailed), -7, run.id));
}

TEST(RunLanesTest, ASelectiveGroupSaysForWhom) {
    SeededRandom random(6);
    for (const std::string& type : kTypes) {
        model::Run run = Queued(type, 1, random);
        run.selector = {{"gpu", ""}, {"4:x", "a:b"}, {"zone", type}};
        const std::string text = PlaceTextOf(run);
        const Place place = ReadPlace(text);
        EXPECT_EQ(place.lane, SelectiveLane(run.kind));
        const Selective back = ReadSelectiveGroup(place.group);
        EXPECT_EQ(back.type, type);
        EXPECT_EQ(back.selector, run.selector);
    }
}

TEST(RunLanesTest, RangesHoldWhatTheySay) {
    SeededRandom random(5);
    const Lane lane = ReadyLane(model::ActionKind::kQueue);
    for (const std::string& type : kTypes) {
        const model::Run run = Queued(type, 100, random);
        const std::int64_t rank = ReadPlace(PlaceTextOf(run)).order;
        EXPECT_TRUE(IsIn(InLane(lane), run));
        EXPECT_TRUE(IsIn(InLanes(kReadyLanes, kLastLane), run));
        EXPECT_FALSE(IsIn(InLane(kRunningLane), run));
        EXPECT_TRUE(IsIn(UpTo(lane, type, rank), run));
        EXPECT_TRUE(IsIn(UpTo(lane, type, INT64_MAX), run));
        EXPECT_FALSE(IsIn(UpTo(lane, type, rank - 1), run));
        for (const std::string& other : kTypes) {
            EXPECT_EQ(IsIn(InGroup(lane, other), run), other == type);
            EXPECT_EQ(IsIn(AfterGroup(lane, other), run), other < type);
        }
    }
}

}  // namespace
}  // namespace ksana::store_sqlite
