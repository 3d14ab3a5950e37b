#include "ksana/codec/v1/audit_view.hpp"

#include <gtest/gtest.h>

#include "ksana/codec/records/backfill_codec.hpp"

namespace ksana::codec {
namespace {

TEST(AuditViewTest, LeavesOutWhatIsNotKnown) {
    model::AuditEvent event;
    event.seq = 7;
    event.action = "paused";
    event.resource_type = "job";
    event.resource_id = "j \"x\"";
    event.data = R"({"reason":"x"})";
    EXPECT_EQ(AuditEventToJson(event),
              R"({"seq":7,"at":"1970-01-01T00:00:00Z","action":"paused","resource_type":"job",)"
              R"("resource_id":"j \"x\"","tenant":"default","data":{"reason":"x"}})");
    event.data = "no JSON";
    EXPECT_NE(AuditEventToJson(event).find(R"("data":"no JSON")"), std::string::npos);
}

TEST(AuditViewTest, DataHoldsTextsAndNames) {
    EXPECT_EQ(AuditDataToJson({{"a", "1"}, {"b", ""}, {"c", "\"\n"}}), R"({"a":"1","c":"\"\n"})");
    const std::vector<std::string> names = {"owner"};
    EXPECT_EQ(AuditDataToJson({}, &names), R"({"changed":["owner"]})");
}

TEST(AuditViewTest, ChangedMembersAreNamesOnly) {
    model::Job before;
    before.id = "j";
    before.timeout = std::chrono::seconds(1);
    before.action = model::HttpAction{.url = "http://a/", .headers = {{"Authorization", "old"}}};
    EXPECT_TRUE(ChangedMembers(before, before).empty());
    model::Job after = before;
    after.action = model::HttpAction{.url = "http://a/", .headers = {{"Authorization", "new"}}};
    after.timeout.reset();
    after.labels = {{"a", "b"}};
    EXPECT_EQ(ChangedMembers(before, after),
              (std::vector<std::string>{"labels", "http", "timeout"}));
}

TEST(BackfillCodecTest, ComesBackAsItWas) {
    model::Backfill backfill;
    backfill.job_id = "j";
    backfill.from = TimePoint(std::chrono::hours(1));
    backfill.to = TimePoint(std::chrono::hours(9));
    backfill.state = model::BackfillState::kCancelled;
    backfill.overlap = model::BackfillOverlap::kAllow;
    backfill.count = 8;
    backfill.next = 5;
    backfill.submitted = 4;
    backfill.skipped = 1;
    backfill.per_minute = 60;
    backfill.parameters = R"({"a":1})";
    backfill.error = "the job is gone";
    backfill.due_at = TimePoint(std::chrono::hours(10));
    backfill.swept = true;
    backfill.ended_at = TimePoint(std::chrono::hours(11));
    backfill.created_by = "ada";
    const auto back = BackfillFromJson(BackfillToJson(backfill));
    ASSERT_TRUE(back) << back.error().Describe();
    EXPECT_EQ(*back, backfill);
    const std::string view = BackfillViewToJson(backfill);
    EXPECT_EQ(view.find("swept"), std::string::npos);
    EXPECT_NE(view.find(R"("state":"cancelled")"), std::string::npos);
}

TEST(BackfillCodecTest, FiresAreSteps) {
    const std::vector<TimePoint> fires = {TimePoint(std::chrono::hours(-5)), TimePoint(),
                                          TimePoint(Duration(7))};
    const std::string text = FiresToJson(fires);
    EXPECT_EQ(text, R"({"steps":[-18000000000,18000000000,7]})");
    EXPECT_EQ(*FiresFromJson(text), fires);
    EXPECT_TRUE(FiresFromJson(FiresToJson({}))->empty());
    EXPECT_FALSE(FiresFromJson("[]"));
}

TEST(BackfillCodecTest, RequestsAreChecked) {
    const auto asked = BackfillRequestFromJson(
        R"({"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z","parameters":{}})");
    ASSERT_TRUE(asked) << asked.error().Describe();
    EXPECT_TRUE(asked->dry_run);
    EXPECT_TRUE(asked->parameters.empty());
    EXPECT_EQ(asked->overlap, model::BackfillOverlap::kQueue);
    for (const char* wrong :
         {"", "[]", "{}", R"({"from":"2026-01-01T00:00:00Z"})",
          R"({"from":"2026-01-02T00:00:00Z","to":"2026-01-02T00:00:00Z"})",
          R"({"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z","x":1})",
          R"({"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z","parameters":1})"}) {
        EXPECT_FALSE(BackfillRequestFromJson(wrong)) << wrong;
    }
}

}  // namespace
}  // namespace ksana::codec
