#include "ksana/codec/v1/job_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <string>

#include "ksana/codec/records/stored_answer.hpp"

namespace ksana::codec {
namespace {

constexpr std::string_view kJob =
    R"({"id":"j","name":"n","http":{"url":"http://x/"},"schedule":{"kind":"every","every":"1h"}})";

TEST(JobViewTest, AViewIsADefinitionOfTheSameJob) {
    model::Job job{JobFromView(kJob).value()};
    job.state.version = 7;
    job.state.total_runs = 9;
    job.state.created_at = TimePoint(std::chrono::seconds(1));
    job.state.next_run_at = job.state.created_at;
    job.state.last_state = model::RunState::kFailed;
    const std::string view = JobViewToJson(job);
    for (const std::string_view part :
         {R"("version":7)", R"("total_runs":9)", R"("next_run_at":"1970-01-01T00:00:01Z")",
          R"("last_state":"failed")"}) {
        EXPECT_NE(view.find(part), std::string::npos) << part << view;
    }
    EXPECT_EQ(view.find("last_run_at"), std::string::npos) << "there was none";
    EXPECT_EQ(JobFromView(view).value(), JobFromView(kJob).value());
}

TEST(JobViewTest, AReplacementKeepsWhatTheServerKeeps) {
    model::Job job{JobFromView(kJob).value()};
    job.state.version = 7;
    job.state.total_runs = 9;
    job.owner = "ada";
    ASSERT_TRUE(ReplaceJob(job, JobFromView(kJob).value()));
    EXPECT_EQ(job.state.version, 7);
    EXPECT_EQ(job.state.total_runs, 9);
    EXPECT_EQ(job.owner, "");
    ASSERT_TRUE(PatchJob(job, R"({"owner":"bob","version":1,"total_runs":0})"));
    EXPECT_EQ(job.owner, "bob");
    EXPECT_EQ(job.state.version, 7);
    EXPECT_EQ(job.state.total_runs, 9);
    for (const std::string_view wrong : {R"({"id":"k"})", R"({"id":null})", R"({"ownr":"x"})"}) {
        const model::Job before = job;
        EXPECT_FALSE(PatchJob(job, wrong)) << wrong;
        EXPECT_EQ(job, before);
    }
}

// A patch of headers whose names come in the worst order for a sorted list.
std::string PatchWithHeaders(int count) {
    std::string patch = R"({"http":{"headers":{)";
    for (int n = count; n > 0; --n) {
        patch += (n == count ? "\"h" : ",\"h") + std::to_string(1'000'000 + n) + R"(":"v")";
    }
    return patch + "}}}";
}

// The least processor time of some patches: what else the machine does only adds to it.
std::clock_t CostOfPatch(const std::string& patch) {
    std::clock_t least = std::numeric_limits<std::clock_t>::max();
    for (int turn = 0; turn < 3; ++turn) {
        model::Job job{JobFromView(kJob).value()};
        const std::clock_t began = std::clock();
        EXPECT_TRUE(PatchJob(job, patch));
        least = std::min(least, std::clock() - began);
    }
    return least;
}

// Sixteen times the headers cost about sixteen times as much; it was 2.3 s for 60,000.
TEST(JobViewTest, APatchWithManyHeadersCostsNoSquare) {
    const std::clock_t few = CostOfPatch(PatchWithHeaders(4'000));
    const std::clock_t many = CostOfPatch(PatchWithHeaders(64'000));
    EXPECT_LT(many, 48 * std::max<std::clock_t>(few, 1));
}

TEST(JobViewTest, BodiesOfVerbsAreChecked) {
    EXPECT_EQ(RunRequestFromJson("")->parameters, "");
    EXPECT_EQ(RunRequestFromJson(" {} ")->parameters, "");
    EXPECT_EQ(RunRequestFromJson(R"({"parameters":{}})")->parameters, "");
    EXPECT_EQ(RunRequestFromJson(R"({"parameters":{"a": 1}})")->parameters, R"({"a":1})");
    EXPECT_FALSE(RunRequestFromJson(R"({"parameters":"{"})"));
    EXPECT_FALSE(RunRequestFromJson("[]"));
    EXPECT_EQ(PauseRequestFromJson(R"({"reason":"x"})")->reason, "x");
    EXPECT_EQ(BulkRequestFromJson(R"({"type":"queue"})")->type, model::ActionKind::kQueue);
    EXPECT_TRUE(CheckEmptyBody(""));
    EXPECT_TRUE(CheckEmptyBody("{}"));
    EXPECT_FALSE(CheckEmptyBody(R"({"a":1})"));
}

TEST(StoredAnswerTest, ComesBackAsItWas) {
    StoredAnswer answer;
    answer.request = "hash";
    answer.id.bytes[3] = 7;
    answer.until = TimePoint(std::chrono::seconds(5));
    answer.status = 201;
    answer.content_type = "application/json";
    answer.headers["Location"] = "/x";
    answer.body = "{\"a\":\"\xff\"}";
    EXPECT_EQ(StoredAnswerFromJson(StoredAnswerToJson(answer)).value(), answer);
    EXPECT_EQ(StoredAnswerFromJson(StoredAnswerToJson(StoredAnswer())).value(), StoredAnswer());
    EXPECT_FALSE(StoredAnswerFromJson("{}"));
}

}  // namespace
}  // namespace ksana::codec
