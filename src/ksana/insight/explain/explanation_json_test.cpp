#include <gtest/gtest.h>

#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/json/json_text.hpp"
#include "ksana/insight/explain/explanation.hpp"

namespace ksana::insight {
namespace {

TEST(ExplanationJson, LeavesOutWhatSaysNothing) {
    Explanation explanation;
    explanation.job_id = "j";
    explanation.asked_at = ParseTime("2026-03-02T03:00:00Z").value();
    explanation.now = explanation.asked_at;
    explanation.text = "There is no job \"j\".";
    EXPECT_EQ(ExplanationToJson(explanation),
              R"({"job_id":"j","asked_at":"2026-03-02T03:00:00Z","now":"2026-03-02T03:00:00Z",)"
              R"("verdict":"unknown_job","text":"There is no job \"j\".","zone":"UTC",)"
              R"("snapped":false})");
}

TEST(ExplanationJson, HasAllFacts) {
    const TimePoint at = ParseTime("2026-03-02T03:00:00Z").value();
    Explanation explanation;
    explanation.asked_at = at;
    explanation.now = at;
    explanation.verdict = Verdict::kRanLate;
    explanation.reason = Reason::kWaitedForRun;
    explanation.fire = Fire{at, "Mon", schedule::DstNote::kAfterGap};
    explanation.run = RunFacts{.late = std::chrono::seconds(2), .error = "HTTP 503"};
    explanation.ledger = LedgerFacts{.seq = 7, .count = 3, .first = at, .last = at};
    explanation.related = RelatedRun{.from = at};
    explanation.actor = Actor{.user = "ann", .at = at, .reason = "why"};
    explanation.calendar = CalendarFacts{"eu", "always"};
    explanation.misfire = model::MisfirePolicy::kRunAll;
    explanation.expected = model::FireFate::kCaughtUp;
    explanation.notes = {"n"};
    const std::string text = ExplanationToJson(explanation);
    ASSERT_TRUE(codec::IsJson(text)) << text;
    for (const char* part :
         {R"("verdict":"ran_late","reason":"waited_for_run")", R"("dst":"after_gap")",
          R"("late":"2s")", R"("error":"HTTP 503")", R"("seq":7,"fate":"missed","count":3)",
          R"("related":{"id":)", R"("actor":{"user":"ann")", R"("rule":"always")",
          R"("misfire":"run_all")", R"("expected":"caught_up")", R"("notes":["n"])"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    }
}

}  // namespace
}  // namespace ksana::insight
