#include "ksana/api/edge/entity_tag.hpp"

#include <gtest/gtest.h>

namespace ksana::api {
namespace {

using http_server::Request;
using http_server::Response;

model::Job JobAt(std::int64_t version, int made) {
    model::Job job;
    job.state.version = version;
    job.state.created_at = TimePoint(Duration(made));
    return job;
}

MatchResult Match(const std::string& header, const model::Job& job) {
    Request request;
    request.headers.Add("If-Match", header);
    return IfMatch(request, job);
}

TEST(EntityTagTest, IfMatchLooksAtTheDefinitionOnly) {
    const model::Job job = JobAt(3, 1000);
    const std::string tag = JobTag(job, "as it was");
    EXPECT_EQ(Match(tag, job), MatchResult::kMatches);
    EXPECT_EQ(Match(JobTag(job, "with another last run"), job), MatchResult::kMatches);
    EXPECT_EQ(Match("\"3\"", job), MatchResult::kMatches);
    EXPECT_EQ(Match("*", job), MatchResult::kMatches);
    EXPECT_EQ(Match("\"1\", " + tag, job), MatchResult::kMatches);
    EXPECT_EQ(Match(tag, JobAt(4, 1000)), MatchResult::kDiffers);
    EXPECT_EQ(Match(tag, JobAt(3, 2000)), MatchResult::kDiffers) << "deleted and made again";
    for (const std::string wrong :
         {"", "3", "\"\"", "\"33\"", "\"3", "W/\"3\"", "\"3.\"", "\"*\""}) {
        EXPECT_EQ(Match(wrong, job), MatchResult::kDiffers) << wrong;
    }
    EXPECT_EQ(IfMatch(Request(), job), MatchResult::kNone);
}

TEST(EntityTagTest, AnAnswerThatIsKnownIsNotSentAgain) {
    const std::string tag = BodyTag("{}");
    const auto answer = [&](const std::string& header) {
        Request request;
        if (!header.empty()) request.headers.Add("If-None-Match", header);
        return WithTag(request, http_server::JsonResponse(200, "{}"), tag);
    };
    for (const std::string& known : {tag, std::string("*"), "W/" + tag, "\"x\", " + tag}) {
        const Response response = answer(known);
        EXPECT_EQ(response.status, 304) << known;
        EXPECT_TRUE(response.body.empty());
        EXPECT_EQ(response.headers.at(0).second, tag);
    }
    for (const std::string& other : {std::string(), std::string("\"x\""), BodyTag("[]")}) {
        EXPECT_EQ(answer(other).status, 200) << other;
    }
}

}  // namespace
}  // namespace ksana::api
