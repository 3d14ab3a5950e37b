#include "ksana/store_kit/lists/index_choice.hpp"

#include <gtest/gtest.h>

#include "ksana/model/run/run.hpp"

namespace ksana::store_kit {
namespace {

TEST(IndexChoice, RunsGoAlongWhatFewOfThemHave) {
    store::RunFilter filter;
    EXPECT_EQ(NarrowestKey(filter), RunFilterKey::kNone);
    filter.tenant = model::Run{}.tenant;
    EXPECT_EQ(NarrowestKey(filter), RunFilterKey::kNone) << "nearly all runs have it";
    filter.tenant = "acme";
    EXPECT_EQ(NarrowestKey(filter), RunFilterKey::kTenant);
    filter.type = "t";
    EXPECT_EQ(NarrowestKey(filter), RunFilterKey::kType);
    filter.category = "c";
    EXPECT_EQ(NarrowestKey(filter), RunFilterKey::kCategory);
    filter.creator = "ann";
    EXPECT_EQ(NarrowestKey(filter), RunFilterKey::kCreator);
    filter.job_id = "j";
    EXPECT_EQ(NarrowestKey(filter), RunFilterKey::kJob);
    filter.parent = Uuid{};
    EXPECT_EQ(NarrowestKey(filter), RunFilterKey::kParent);
    EXPECT_EQ(NarrowestKey(filter, SetOf(RunFilterKey::kType) | SetOf(RunFilterKey::kTenant)),
              RunFilterKey::kType);
    EXPECT_EQ(NarrowestKey(filter, 0), RunFilterKey::kNone);
}

TEST(IndexChoice, WhatIsLeftOfAFilterIsOpenWhenItsKeyWasAll) {
    const auto left = [](store::RunFilter filter) {
        return IsOpen(Without(filter, NarrowestKey(filter)));
    };
    EXPECT_TRUE(left({}));
    EXPECT_TRUE(left({.tenant = "acme"}));
    EXPECT_TRUE(left({.job_id = "j"}));
    EXPECT_TRUE(left({.type = "t"}));
    EXPECT_TRUE(left({.category = "c"}));
    EXPECT_TRUE(left({.creator = "ann"}));
    EXPECT_TRUE(left({.parent = Uuid{}}));
    EXPECT_TRUE(left({.text = "word"})) << "words are tested apart";
    EXPECT_FALSE(left({.job_id = "j", .type = "t"}));
    EXPECT_FALSE(left({.tenant = model::Run{}.tenant}));
    EXPECT_FALSE(left({.states = model::SetOf(model::RunState::kQueued), .job_id = "j"}));
    EXPECT_FALSE(left({.job_id = "j", .owner = "o"}));
    EXPECT_FALSE(left({.job_id = "j", .kind = model::ActionKind::kHttp}));
    EXPECT_FALSE(left({.job_id = "j", .trigger = model::RunTrigger::kManual}));
    EXPECT_FALSE(left({.job_id = "j", .finished_from = TimePoint{}}));
    EXPECT_FALSE(left({.job_id = "j", .finished_until = TimePoint{}}));
}

TEST(IndexChoice, JobsGoAlongWhatFewOfThemHave) {
    store::JobFilter filter;
    EXPECT_EQ(NarrowestKey(filter, true).key, JobFilterKey::kNone);
    filter.tenant = "default";
    filter.group = "default";
    EXPECT_EQ(NarrowestKey(filter, false).key, JobFilterKey::kNone);
    EXPECT_EQ(NarrowestKey(filter, true).key, JobFilterKey::kGroup);
    filter.tenant = "acme";
    EXPECT_EQ(NarrowestKey(filter, false).key, JobFilterKey::kTenant);
    EXPECT_EQ(NarrowestKey(filter, false).value, "acme");
    filter.group = "g";
    EXPECT_EQ(NarrowestKey(filter, false).key, JobFilterKey::kGroup);
    filter.type = "t";
    EXPECT_EQ(NarrowestKey(filter, false).key, JobFilterKey::kType);
    filter.owner = "ann";
    EXPECT_EQ(NarrowestKey(filter, false).key, JobFilterKey::kOwner);
    filter.calendar = "c";
    EXPECT_EQ(NarrowestKey(filter, false).key, JobFilterKey::kCalendar);
    filter.name = "n";
    EXPECT_EQ(NarrowestKey(filter, false).key, JobFilterKey::kName);
    filter.labels["a"] = "b";
    EXPECT_EQ(NarrowestKey(filter, false).key, JobFilterKey::kLabel);
}

}  // namespace
}  // namespace ksana::store_kit
