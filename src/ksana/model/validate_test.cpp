#include "ksana/model/validate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "ksana/schedule/schedule.hpp"

namespace ksana::model {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class ValidateTest : public ::testing::Test {
  protected:
    ValidateTest() {
        HttpAction http;
        http.url = "https://example.com/ping";
        job_.name = "ping";
        job_.action = http;
        job_.schedule.kind = schedule::ScheduleKind::kEvery;
        job_.schedule.every = seconds(300);
    }

    HttpAction& http() { return std::get<HttpAction>(job_.action); }

    std::vector<std::string> Paths() {
        std::vector<std::string> paths;
        for (const Problem& p : ValidateJob(job_, {zones_, {}, {}})) paths.push_back(p.path);
        std::sort(paths.begin(), paths.end());
        return paths;
    }
    using Strings = std::vector<std::string>;

    schedule::ZoneDatabase zones_;
    Job job_;
};

TEST_F(ValidateTest, AGoodJobHasNoProblems) { EXPECT_EQ(Paths(), Strings{}); }

// K-20: all problems, not only the first.
TEST_F(ValidateTest, EveryProblemIsReportedWithItsPlace) {
    job_.id = "a b";
    job_.name = "";
    job_.tenant = "";
    job_.owner = "tab\there";
    job_.labels["team/x"] = "y";
    http().url = "ftp://x";
    http().headers["Host"] = "evil";
    http().headers["X-A"] = "a\nb";
    http().body = "x";
    job_.schedule.every = Duration(0);
    job_.schedule.zone = "Nowhere";
    job_.misfire.max_runs = 0;
    job_.misfire.grace = -seconds(1);
    job_.retry =
        RetryPolicy{.strategy = RetryStrategy::kSequence, .max_retries = -1, .jitter = NAN};
    job_.timeout = Duration(0);
    job_.priority = 10;
    job_.depends_on = {{"c d", {}}, {"j", {}}, {"j", {}}};
    EXPECT_EQ(Paths(), (Strings{"/depends_on/0/job",
                                "/depends_on/2/job",
                                "/http/body",
                                "/http/headers/Host",
                                "/http/headers/X-A",
                                "/http/url",
                                "/id",
                                "/labels/team~1x",
                                "/misfire/grace",
                                "/misfire/max_runs",
                                "/name",
                                "/owner",
                                "/priority",
                                "/retry/jitter",
                                "/retry/max_retries",
                                "/retry/sequence",
                                "/schedule/every",
                                "/schedule/zone",
                                "/tenant",
                                "/timeout"}));
}

TEST_F(ValidateTest, AJobCannotDependOnItself) {
    job_.id = "me";
    job_.depends_on = {{"me", OnDependencyFailure::kWait}};
    EXPECT_EQ(Paths(), Strings{"/depends_on/0/job"});
}

TEST_F(ValidateTest, AScheduleThatNeverFiresIsRefused) {
    job_.schedule.kind = schedule::ScheduleKind::kCron;
    job_.schedule.cron = "0 0 30 2 *";
    EXPECT_EQ(Paths(), Strings{"/schedule"});
    job_.schedule.cron = "0 0 30 13 *";
    EXPECT_EQ(Paths(), Strings{"/schedule/cron"});
}

TEST_F(ValidateTest, HostileTextIsRefused) {
    job_.name = "x\xFF";
    job_.description = std::string("nul\0", 4);
    http().body = "";
    EXPECT_EQ(Paths(), (Strings{"/description", "/name"}));
    job_.name = std::string(kMaxNameLength + 1, 'n');
    job_.description = "two\nlines are fine";
    EXPECT_EQ(Paths(), Strings{"/name"});
}

TEST_F(ValidateTest, OtherActionsAreCheckedToo) {
    job_.action = CommandAction{.argv = {}, .environment = {{"A=B", "x"}}, .working_directory = ""};
    EXPECT_EQ(Paths(), (Strings{"/command/argv", "/command/environment/A=B"}));
    job_.action = HandlerAction{.handler = "", .input = ""};
    EXPECT_EQ(Paths(), Strings{"/handler/name"});
    job_.action = QueueAction{.type = "", .category = "a/b", .payload = ""};
    EXPECT_EQ(Paths(), (Strings{"/queue/category", "/queue/type"}));
}

TEST_F(ValidateTest, EveryPartOfACommandIsChecked) {
    CommandAction command{.argv = {"a", "{{b}}"}, .environment = {{"A", "{{b}}"}}};
    job_.action = command;
    EXPECT_EQ(Paths(), Strings{});
    command.inherit = {"OK", "KSANA_STORE", "A=B"};
    command.environment = {{"KSANA_RUN_ID", "x"}};
    command.user = "a\nb";
    command.limits = {.cpu = std::chrono::milliseconds(1), .memory = -1};
    command.permanent_exit_codes = {1, 0, 256};
    command.output_limit = 100;
    job_.action = command;
    EXPECT_EQ(Paths(),
              (Strings{"/command/environment/KSANA_RUN_ID", "/command/inherit/1",
                       "/command/inherit/2", "/command/limits/cpu", "/command/limits/memory",
                       "/command/output_limit", "/command/permanent_exit_codes/1",
                       "/command/permanent_exit_codes/2", "/command/user"}));
    job_.action =
        CommandAction{.argv = {std::string("a\0b", 3), std::string(kMaxArgument + 1, 'x')}};
    EXPECT_EQ(Paths(), (Strings{"/command/argv/0", "/command/argv/1"}));
}

// The value of a parameter must never be read as commands.
TEST_F(ValidateTest, AShellLineHasNoPlaceholders) {
    job_.action = CommandAction{.argv = {"echo {{name}}"}, .shell = true};
    EXPECT_EQ(Paths(), Strings{"/command/argv/0"});
    job_.action =
        CommandAction{.argv = {"docker ps --format '{{{{.Names}}'", "{{name}}"}, .shell = true};
    EXPECT_EQ(Paths(), Strings{});
}

// T-06, T-11
TEST_F(ValidateTest, TypesAreChecked) {
    RunType type;
    type.callbacks.success.url = "nope";
    type.callbacks.security = CallbackSecurity::kAkSk;
    type.timeout = hours(24 * 31);
    std::vector<std::string> paths;
    for (const Problem& p : ValidateRunType(type)) paths.push_back(p.path);
    EXPECT_EQ(paths, (Strings{"/code", "/timeout", "/callbacks/success/url",
                              "/callbacks/access_key", "/callbacks/secret_key"}));
    RunType good;
    good.code = "transcode";
    EXPECT_TRUE(ValidateRunType(good).empty());
}

// T-11: during a rotation the old secret stays valid beside the new one.
TEST_F(ValidateTest, KeysOfCallbacksAreChecked) {
    RunType type;
    type.code = "transcode";
    type.callbacks.previous_secret_key = "old";
    type.callbacks.access_key = "a key";
    std::vector<std::string> paths;
    for (const Problem& p : ValidateRunType(type)) paths.push_back(p.path);
    EXPECT_EQ(paths, (Strings{"/callbacks/access_key", "/callbacks/previous_secret_key"}));
    type.callbacks.access_key = "key-1";
    type.callbacks.secret_key = "new";
    EXPECT_TRUE(ValidateRunType(type).empty());
    type.callbacks.secret_key = std::string(kMaxSecretLength + 1, 's');
    EXPECT_EQ(ValidateRunType(type).size(), 1U);
}

}  // namespace
}  // namespace ksana::model
