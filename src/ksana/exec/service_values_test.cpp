#include "ksana/exec/call_values.hpp"

#include <gtest/gtest.h>

namespace ksana::exec {
namespace {

std::string Fill(std::string body) {
    return FillServiceValues(std::move(body), [](std::string_view name) {
        return name == "attempt" ? TemplateValue{"2", "2"}
                                 : TemplateValue{"<" + std::string(name) + ">",
                                                 "\"<" + std::string(name) + ">\""};
    });
}

TEST(ServiceValues, KnownKeysAreFilledAtAnyDepth) {  // K-10
    EXPECT_EQ(Fill(R"({"job_id":"<filled-by-service>","a":[{"run_id" : "<filled-by-service>"}],)"
                   R"("exec_id":"<filled-by-service>","scheduled_at":"<filled-by-service>",)"
                   R"("triggered_at":"<filled-by-service>","attempt":"<filled-by-service>"})"),
              R"({"job_id":"<job_id>","a":[{"run_id" : "<run_id>"}],)"
              R"("exec_id":"<exec_id>","scheduled_at":"<scheduled_at>",)"
              R"("triggered_at":"<triggered_at>","attempt":2})");
}

TEST(ServiceValues, EverythingElseStaysToTheByte) {
    for (const std::string body :
         {R"({ "other" : "<filled-by-service>" })", R"(["<filled-by-service>","job_id"])",
          R"({"job_id":"x <filled-by-service>"})", R"({"job_id":["<filled-by-service>"]})",
          R"({"a":"\"job_id\":\"<filled-by-service>\""})", R"({"<filled-by-service>":"job_id"})",
          R"({"job_id":"<filled-by-service>)", R"({"job_id":"<filled-by-service>\)",
          "filled-by-service", "{\"job_id\":", "", R"({"n":1.0e5,"n":  1})"}) {
        EXPECT_EQ(Fill(body), body);
    }
    EXPECT_EQ(Fill("{\n \"x\": 1.50, \"job_id\":\t\"<filled-by-service>\" ,\"y\":\"\\u00e9\"}\n"),
              "{\n \"x\": 1.50, \"job_id\":\t\"<job_id>\" ,\"y\":\"\\u00e9\"}\n");
}

TEST(ServiceValues, TheMarkerIsKnownInTheFormThatGoWrites) {
    EXPECT_EQ(Fill(R"({"job_id":"\u003cfilled-by-service\u003E"})"), R"({"job_id":"<job_id>"})");
    EXPECT_EQ(Fill(R"({"job\u005fid":"<filled-by-service>"})"), R"({"job\u005fid":"<job_id>"})");
}

}  // namespace
}  // namespace ksana::exec
