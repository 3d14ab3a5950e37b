#include "ksana/model/run/trace_context.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ksana/base/ids/random.hpp"

namespace ksana::model {
namespace {

constexpr const char* kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr const char* kParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

Run SomeRun(std::string trace_parent = {}) {
    model::Run run;
    run.id = *Uuid::Parse("0192f0c1-2345-7abc-8def-0123456789ab");
    run.trace_parent = std::move(trace_parent);
    run.status.attempt = 2;
    return run;
}

// D-13
TEST(TraceContext, ReadsWhatW3CCallsValid) {
    const auto parsed = ParseTraceParent(kParent);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->trace_id, kTrace);
    EXPECT_EQ(parsed->span, 0x00f067aa0ba902b7U);
    EXPECT_TRUE(parsed->sampled);
    EXPECT_EQ(FormatTraceParent(*parsed), kParent);
    // A later version may say more; what it adds to the flags is not known here.
    const std::string later = std::string("cc").append(kParent + 2);
    EXPECT_EQ(FormatTraceParent(*ParseTraceParent(later + "-more")), kParent);
    EXPECT_FALSE(ParseTraceParent(std::string(kParent, 53) + "00")->sampled);
    EXPECT_TRUE(ParseTraceParent(std::string(kParent, 53) + "03")->sampled);
}

TEST(TraceContext, RefusesEverythingElse) {
    const std::string parent = kParent;
    for (std::string text :
         {std::string(), parent.substr(0, 54), parent + "0", parent + "-x", "ff" + parent.substr(2),
          "0g" + parent.substr(2),
          std::string("00-00000000000000000000000000000000-"
                      "00f067aa0ba902b7-01"),
          parent.substr(0, 36) + "0000000000000000-01", "cc" + parent.substr(2) + "more"}) {
        EXPECT_FALSE(ParseTraceParent(text)) << text;
    }
    std::string upper = parent;
    std::ranges::replace(upper, 'f', 'F');
    EXPECT_FALSE(ParseTraceParent(upper));
}

// D-13
TEST(TraceContext, ARunIsATraceUnlessItContinuesOne) {
    EXPECT_EQ(TraceIdOf(SomeRun()), "0192f0c123457abc8def0123456789ab");
    EXPECT_EQ(TraceIdOf(SomeRun(kParent)), kTrace);
    const auto sent = ParseTraceParent(TraceParentOf(SomeRun(kParent)));
    ASSERT_TRUE(sent);
    EXPECT_EQ(sent->trace_id, kTrace);
    EXPECT_EQ(sent->span, AttemptSpanOf(SomeRun().id, 2));
    EXPECT_EQ(StoredTraceOf(SomeRun(kParent)).parent->span, 0x00f067aa0ba902b7U);
}

TEST(TraceContext, AChildBelongsToTheTraceOfItsParent) {
    for (const model::Run& parent : {SomeRun(), SomeRun(kParent)}) {
        model::Run child;
        child.id = *Uuid::Parse("0192f0c1-2345-7abc-8def-ffffffffffff");
        child.trace_parent = TraceParentForChild(parent);
        EXPECT_EQ(TraceIdOf(child), TraceIdOf(parent));
        EXPECT_EQ(StoredTraceOf(child).parent->span, RootSpanOf(parent.id));
        EXPECT_FALSE(StoredTraceOf(child).link);
        model::Run grandchild;
        grandchild.trace_parent = TraceParentForChild(child);
        EXPECT_EQ(TraceIdOf(grandchild), TraceIdOf(parent));
    }
}

TEST(TraceContext, AFollowerIsATraceOfItsOwnWithALink) {
    model::Run follower = SomeRun(TraceLinkTo(SomeRun(kParent)));
    follower.id = *Uuid::Parse("0192f0c1-2345-7abc-8def-ffffffffffff");
    EXPECT_EQ(TraceIdOf(follower), "0192f0c123457abc8defffffffffffff");
    const StoredTrace stored = StoredTraceOf(follower);
    EXPECT_FALSE(stored.parent);
    ASSERT_TRUE(stored.link);
    EXPECT_EQ(stored.link->trace_id, kTrace);
    EXPECT_EQ(stored.link->span, RootSpanOf(SomeRun().id));
}

TEST(TraceContext, SpansOfARunDiffer) {
    const Uuid id = SomeRun().id;
    std::vector<std::uint64_t> spans = {RootSpanOf(id), PartSpanOf(id, "plan", 0)};
    for (std::int32_t n = 1; n <= 1'000; ++n) {
        spans.push_back(AttemptSpanOf(id, n));
        spans.push_back(PartSpanOf(id, "wait", n));
        spans.push_back(PartSpanOf(id, "work", n));
    }
    EXPECT_EQ(std::ranges::count(spans, 0U), 0);
    std::ranges::sort(spans);
    EXPECT_EQ(std::ranges::adjacent_find(spans), spans.end());
}

// D-13
TEST(TraceSampler, TheSubmitterDecidesUnlessTheSamplerIgnoresIt) {
    const model::Run unsampled = SomeRun(std::string(kParent, 53) + "00");
    EXPECT_TRUE(TraceParentOf(SomeRun()).ends_with("-01"));
    EXPECT_TRUE(TraceParentOf(unsampled).ends_with("-00"));
    const TraceSampler off{.kind = TraceSampler::Kind::kAlwaysOff};
    EXPECT_FALSE(off.Samples(SomeRun()));
    EXPECT_TRUE(off.Samples(SomeRun(kParent)));
    const TraceSampler always{.parent_based = false};
    EXPECT_TRUE(always.Samples(unsampled));
    const TraceSampler never{.kind = TraceSampler::Kind::kAlwaysOff, .parent_based = false};
    EXPECT_FALSE(never.Samples(SomeRun(kParent)));
    EXPECT_TRUE(TraceParentOf(SomeRun(), off).ends_with("-00"));
}

TEST(TraceSampler, ARatioTakesThatPartOfAllTracesAsAWhole) {
    const TraceSampler quarter{.kind = TraceSampler::Kind::kRatio, .ratio = 0.25};
    SeededRandom random(7);
    int sampled = 0;
    for (int i = 0; i < 4'000; ++i) {
        model::Run run;
        run.id = RandomUuid(random);
        const bool taken = quarter.Samples(run);
        sampled += taken ? 1 : 0;
        model::Run callback;
        callback.id = RandomUuid(random);
        callback.trace_parent = TraceParentForChild(run);
        ASSERT_EQ(quarter.Samples(callback), taken);
    }
    EXPECT_NEAR(sampled, 1'000, 100);
    EXPECT_FALSE((TraceSampler{.kind = TraceSampler::Kind::kRatio, .ratio = 0}.Samples(SomeRun())));
    EXPECT_TRUE((TraceSampler{.kind = TraceSampler::Kind::kRatio, .ratio = 1}.Samples(SomeRun())));
}

}  // namespace
}  // namespace ksana::model
