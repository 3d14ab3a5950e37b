#include "apps/ksana/run/run_trace.hpp"

#include <gtest/gtest.h>

#include "ksana/base/time/time_text.hpp"

namespace ksana::app {
namespace {

std::string Shown(const std::string& spans) {
    const auto trace = codec::Json::Parse(R"({"trace_id":"0192","spans":[)" + spans + "]}");
    return Waterfall(*trace, {.now = *ParseTime("2026-01-01T00:00:08Z")});
}

TEST(Waterfall, PutsPartsBelowTheirParentsAndBarsInTheirTime) {
    EXPECT_EQ(Shown(R"({"span_id":"a","name":"run j","start":"2026-01-01T00:00:00Z",)"
                    R"("end":"2026-01-01T00:00:04Z","status":"error","error":"HTTP 503"},)"
                    R"({"span_id":"b","parent_id":"a","name":"attempt 1","status":"unset",)"
                    R"("start":"2026-01-01T00:00:02Z","end":"2026-01-01T00:00:03Z"},)"
                    R"({"span_id":"d","parent_id":"a","name":"wait 2","status":"unset",)"
                    R"("start":"2026-01-01T00:00:03Z","end":"2026-01-01T00:00:04Z"},)"
                    R"({"span_id":"c","parent_id":"b","name":"HTTP","status":"ok",)"
                    R"("start":"2026-01-01T00:00:02Z","end":"2026-01-01T00:00:02Z"})"),
              "trace 0192\n"
              "run j                4s  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━  HTTP 503\n"
              "  attempt 1          1s                  ━━━━━━━━\n"
              "    HTTP             0s                  ━\n"
              "  wait 2             1s                          ━━━━━━━━\n");
}

// The root of a run that continues a trace has a parent that is not here.
TEST(Waterfall, ARunThatIsNotOverGoesOnUntilNow) {
    EXPECT_EQ(Shown(R"({"span_id":"a","parent_id":"x","name":"run j","status":"unset",)"
                    R"("start":"2026-01-01T00:00:00Z"})"),
              "trace 0192\n"
              "run j           …  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━…\n");
    EXPECT_EQ(Shown(""), "trace 0192\n");
}

}  // namespace
}  // namespace ksana::app
