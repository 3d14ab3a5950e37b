#include "apps/ksana/job/job_definition.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::app {
namespace {

class JobDefinitionTest : public ::testing::Test {
  protected:
    Result<codec::Json> Made(const std::vector<std::string>& tokens) {
        const Command command{.path = "job create",
                              .words = "[ID]",
                              .summary = "",
                              .details = "",
                              .options = DefinitionOptions(),
                              .run = {},
                              .optional_words = 1};
        KSANA_TRY(const Arguments arguments, ParseArguments(command, tokens));
        return DefinitionOf(arguments, process_);
    }
    std::string Text(const std::vector<std::string>& tokens) {
        const auto made = Made(tokens);
        return made ? made->Compact() : made.error().Describe();
    }
    std::string File(const std::string& name, const std::string& text) {
        const std::string path = folder_.path() / name;
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }

    test::TemporaryFolder folder_;
    FakeClock clock_;
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
    Process process_{clock_, random_, ids_, {}, nullptr, nullptr, {}};
};

TEST_F(JobDefinitionTest, FlagsBecomeMembers) {
    EXPECT_EQ(Text({"nightly",
                    "--url",
                    "http://h/",
                    "--method",
                    "POST",
                    "-H",
                    "X-A: b: c",
                    "-d",
                    "hi",
                    "--cron",
                    "0 3 * * *",
                    "--tz",
                    "Europe/Paris",
                    "-l",
                    "team=money",
                    "-l",
                    "a/b=",
                    "--retry",
                    "3",
                    "--priority=7",
                    "--paused",
                    "--run-timeout",
                    "5s"}),
              R"({"id":"nightly","schedule":{"kind":"cron","cron":"0 3 * * *",)"
              R"("zone":"Europe/Paris"},"http":{"url":"http://h/","method":"POST","body":"hi",)"
              R"("headers":{"X-A":"b: c"}},"timeout":"5s","labels":{"team":"money","a/b":""},)"
              R"("retry":{"max_retries":3,"strategy":"exponential"},"priority":7,)"
              R"("enabled":false,"type":"http","name":"nightly"})");
    EXPECT_EQ(Text({"--url", "http://h/", "--every", "5m"}),
              R"({"schedule":{"kind":"every","every":"5m"},"http":{"url":"http://h/"},)"
              R"("type":"http","name":"http://h/"})");
}

TEST_F(JobDefinitionTest, FlagsGoOverAFile) {
    const std::string toml = File("j.toml",
                                  "name = \"x\"\n[http]\nurl = \"http://h/\"\n[schedule]\n"
                                  "kind = \"cron\"\ncron = \"* * * * *\"\nzone = \"UTC\"\n");
    EXPECT_EQ(Text({"-f", toml, "--every", "1m", "--name", "y"}),
              R"({"http":{"url":"http://h/"},"name":"y","schedule":{"kind":"every","every":"1m"},)"
              R"("type":"http"})")
        << "a schedule of another kind takes the place of the file's as a whole";
    const std::string json = File("plain", R"( {"name": "j", "type": "queue"})");
    EXPECT_EQ(Text({"id1", "-f", json}), R"({"name":"j","type":"queue","id":"id1"})");
    const std::string body = File("body.txt", "from a file");
    EXPECT_EQ(Made({"-d", "@" + body}).value().TextAt("/http/body"), "from a file");
}

TEST_F(JobDefinitionTest, MistakesAreNamed) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
        {{"--every", "1m", "--cron", "* * * * *"}, "--every and --cron cannot both be given"},
        {{"-l", "nothing"}, "--label \"nothing\" is not NAME=VALUE"},
        {{"-l", "=x"}, "is not NAME=VALUE"},
        {{"-H", "X-A"}, "--header \"X-A\" is not NAME:VALUE"},
        {{"--retry", "-1"}, "--retry must be a whole number"},
        {{"--priority", "10"}, "--priority must be a whole number from 0 to 9"},
        {{"-f", "missing.json"}, "cannot read missing.json"},
        {{"-f", File("list.json", R"({"jobs": []})")}, "use ksana apply"},
        {{"-f", File("array.json", "[]")}, "does not hold a job"},
        {{"-f", File("bad.toml", "a = ")}, "bad.toml"},
        {{"--name", "\xFF"}, "--name is not UTF-8"},
        {{"-d", "@missing"}, "cannot read missing"},
    };
    for (const auto& [tokens, message] : cases) {
        const auto made = Made(tokens);
        ASSERT_FALSE(made) << message;
        EXPECT_EQ(made.error().code, Code::kInvalidArgument);
        EXPECT_NE(made.error().Describe().find(message), std::string::npos)
            << made.error().Describe();
    }
}

TEST_F(JobDefinitionTest, WhatTheServerKeepsIsNotEdited) {
    const auto job = codec::Json::Parse(
        R"({"id":"a","version":3,"created_at":"t","last_error":"","total_runs":1,"name":"n"})");
    EXPECT_EQ(DefinitionPart(*job).Compact(), R"({"id":"a","name":"n"})");
}

}  // namespace
}  // namespace ksana::app
