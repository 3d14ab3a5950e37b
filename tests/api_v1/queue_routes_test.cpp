#include <gtest/gtest.h>

#include "api_v1/v1_fixture.hpp"
#include "ksana/api/v1/queue_report.hpp"

namespace ksana::api {
namespace {

using std::chrono::seconds;

class V1QueuesTest : public V1Fixture {
  protected:
    void Submit(const std::string& type, TimePoint ready_at) {
        model::Run run;
        run.type = type;
        run.status.ready_at = ready_at;
        std::vector<model::Run> runs = {run};
        ASSERT_TRUE(store_->runs().Submit({.runs = std::move(runs)}));
    }
    model::Run Take() {
        auto claimed = store_->runs().Claim({.filter = {}, .owner = "o", .limit = 1});
        EXPECT_TRUE(claimed && claimed->runs.size() == 1);
        return claimed->runs.at(0);
    }
    void End(const model::Run& run, model::EventKind kind) {
        const auto applied = store_->runs().Apply(
            {{.run_id = run.id, .event = {.kind = kind, .exec_id = run.status.exec_id}}});
        ASSERT_EQ(applied->at(0).verdict, model::EventVerdict::kApplied);
    }
};

TEST_F(V1QueuesTest, DepthAgeAndRatesAreToldByTypeAndCategory) {
    ASSERT_EQ(Do(HttpMethod::kPut, "/types/mail", R"({"category": "bulk"})").status, 201);
    const TimePoint now = clock_.Now();
    for (int i = 0; i < 3; ++i) Submit("mail", now);
    Submit("mail", now + std::chrono::hours(1));
    Submit("scan", now);
    clock_.Advance(seconds(10));
    End(Take(), model::EventKind::kSuccess);
    End(Take(), model::EventKind::kPermanentFailure);
    Take();
    const Response all = Get("/queues");
    ASSERT_EQ(all.status, 200);
    EXPECT_TRUE(Has(all, R"({"kind":"queue","type":"mail","category":"bulk","scheduled":1,)"
                         R"("queued":0,"running":1,"held":0,"completing":0,)"
                         R"("submitted_per_second":0.067,"finished_per_second":0.033,)"
                         R"("failed_per_second":0.017})"))
        << all.body;
    EXPECT_TRUE(Has(all, R"("type":"scan","category":"","scheduled":0,"queued":1,"running":0,)"
                         R"("held":0,"completing":0,"oldest_queued_for":"10s")"))
        << all.body;
    EXPECT_TRUE(Has(all, R"("categories":[{"category":"","scheduled":0,"queued":1)")) << all.body;
    EXPECT_TRUE(Has(all, R"({"category":"bulk","scheduled":1,"queued":0,"running":1)")) << all.body;
    EXPECT_FALSE(Has(Get("/queues?type=scan"), "mail"));
    EXPECT_FALSE(Has(Get("/queues?category=bulk"), "scan"));
    EXPECT_EQ(Get("/queues?typ=scan").status, 400);
    clock_.Advance(seconds(120));
    EXPECT_TRUE(Has(Get("/queues?type=mail"), R"("finished_per_second":0.000)")) << "long ago";
}

TEST_F(V1QueuesTest, ManyRunsAreASample) {
    for (std::size_t i = 0; i < kRateSample + 200; ++i) Submit("t", clock_.Now());
    clock_.Advance(seconds(2));
    EXPECT_TRUE(Has(Get("/queues"), R"("submitted_per_second":500.000)")) << Get("/queues").body;
}

// A client whose clock is years ahead draws ids that remain the newest.
TEST_F(V1QueuesTest, AnOddIdDoesNotHideTheOthers) {
    for (std::uint8_t i = 0; i < 150; ++i) {
        model::Run odd;
        odd.id = *Uuid::Parse("7fffffff-ffff-7fff-8fff-ffffffffff00");
        odd.id.bytes.back() = i;
        odd.type = "odd";
        odd.status.ready_at = clock_.Now();
        std::vector<model::Run> runs = {odd};
        ASSERT_TRUE(store_->runs().Submit({.runs = std::move(runs)}));
    }
    clock_.Advance(seconds(120));
    for (int i = 0; i < 30; ++i) Submit("t", clock_.Now());
    const Response queues = Get("/queues?type=t");
    EXPECT_TRUE(Has(queues, R"("submitted_per_second":0.500)")) << queues.body;
}

}  // namespace
}  // namespace ksana::api
