#include "apps/ksana/apply/apply_plan.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "apps/ksana/apply/apply_text.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "support/app_process.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::app {
namespace {

using codec::Json;

Json Parsed(std::string_view text) { return Json::Parse(text).value(); }

TEST(Differences, NamesTheMembers) {
    const Json before = Parsed(R"({"a": 1, "b": {"c": [1, 3], "d": "x"}, "e": {"f": 1}})");
    const Json after = Parsed(R"({"a": 1, "b": {"c": [1, 2], "d": "x"}, "g": null})");
    EXPECT_EQ(Differences(before, after),
              (std::vector<FieldChange>{{"b.c[]", "3", ""}, {"b.c[]", "", "2"}, {"e.f", "1", ""}}));
    EXPECT_TRUE(Differences(before, before).empty());
    EXPECT_EQ(Differences(Parsed(R"({"a": [1, 2, 2]})"), Parsed(R"({"a": [2, 1, 2]})")),
              (std::vector<FieldChange>{{"a", "[1,2,2]", "[2,1,2]"}}));
}

class ApplyPlanTest : public ::testing::Test {
  protected:
    static WantedJob Wanted(const std::string& id, std::string_view cron = "0 3 * * *") {
        WantedJob wanted;
        wanted.job.id = id;
        wanted.job.name = id;
        wanted.job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        wanted.job.schedule.kind = schedule::ScheduleKind::kCron;
        wanted.job.schedule.cron = cron;
        return wanted;
    }
    Plan Make(bool prune = false) {
        auto plan = MakePlan(wanted_, stored_, {"default", prune});
        EXPECT_TRUE(plan) << plan.error().Describe();
        return plan.value_or(Plan{});
    }
    // Stores the job as the server shows it after the item was sent.
    void Store(const PlanItem& item, std::int64_t version = 1) {
        model::Job job{codec::JobFromJson(item.body.Compact()).value()};
        job.state.version = version;
        stored_.jobs[job.id] = Parsed(codec::JobViewToJson(job));
    }

    DefinedItems wanted_;
    StoredItems stored_;
};

TEST_F(ApplyPlanTest, SecondTimeNothingIsToDo) {
    wanted_.jobs = {Wanted("a"), Wanted("b")};
    Plan plan = Make();
    ASSERT_EQ(plan.Count(PlanVerb::kCreate), 2U);
    EXPECT_EQ(plan.items[0].if_match, "");
    EXPECT_EQ(plan.items[0].body.TextAt("/labels/apply_set"), "default");
    for (const PlanItem& item : plan.items) Store(item);
    plan = Make();
    EXPECT_EQ(plan.Count(PlanVerb::kSame), 2U);
    EXPECT_FALSE(plan.Changes());
}

// The server knows only jobs that exist: those that are named come first, and are deleted last.
TEST_F(ApplyPlanTest, JobsComeAfterThoseThatTheyNeed) {
    wanted_.jobs = {Wanted("a"), Wanted("b"), Wanted("c"), Wanted("d")};
    wanted_.jobs[0].job.depends_on = {{"d", model::OnDependencyFailure::kSkip}};
    wanted_.jobs[3].job.schedule = {.kind = schedule::ScheduleKind::kAfter};
    wanted_.jobs[3].job.schedule.jobs = {"c", "b"};
    const auto names = [](const Plan& plan) {
        std::string all;
        for (const PlanItem& item : plan.items) all += item.name;
        return all;
    };
    const Plan plan = Make();
    EXPECT_EQ(names(plan), "cbda");
    for (const PlanItem& item : plan.items) Store(item);
    EXPECT_FALSE(Make().Changes());
    wanted_.jobs.clear();
    EXPECT_EQ(names(Make(true)), "adcb");
}

TEST_F(ApplyPlanTest, AChangeOfTheFileNamesItsMembers) {
    wanted_.jobs = {Wanted("a")};
    Store(Make().items[0], 4);
    wanted_.jobs = {Wanted("a", "0 4 * * *")};
    const Plan plan = Make();
    ASSERT_EQ(plan.items[0].verb, PlanVerb::kChange);
    EXPECT_EQ(plan.items[0].changes,
              (std::vector<FieldChange>{{"schedule.cron", "\"0 3 * * *\"", "\"0 4 * * *\""}}));
    EXPECT_EQ(plan.items[0].if_match, "\"4\"");
    EXPECT_FALSE(plan.items[0].drifted);
}

TEST_F(ApplyPlanTest, AChangeByHandIsNoticed) {
    wanted_.jobs = {Wanted("a")};
    PlanItem item = Make().items[0];
    item.body = item.body.With("/schedule/cron", Json::Of("0 5 * * *"));
    Store(item);
    Plan plan = Make();
    ASSERT_EQ(plan.items[0].verb, PlanVerb::kChange);
    EXPECT_TRUE(plan.items[0].drifted);
    EXPECT_EQ(plan.items[0].changes.size(), 1U);
    EXPECT_NE(PlanText(plan, {}).find("changed by hand"), std::string::npos);
    // The file now matches the change by hand: only the hash label is left to set.
    wanted_.jobs = {Wanted("a", "0 5 * * *")};
    plan = Make();
    EXPECT_EQ(plan.items[0].verb, PlanVerb::kChange);
    EXPECT_TRUE(plan.items[0].changes.empty());
}

TEST_F(ApplyPlanTest, APauseIsNoChangeByHand) {
    wanted_.jobs = {Wanted("a")};
    PlanItem item = Make().items[0];
    item.body = item.body.With("/enabled", Json::Of(false));
    Store(item);
    EXPECT_FALSE(Make().Changes());
    wanted_.jobs[0].says_enabled = true;
    const Plan plan = Make();
    ASSERT_EQ(plan.items[0].verb, PlanVerb::kChange);
    EXPECT_EQ(plan.items[0].changes.at(0).field, "enabled");
}

TEST_F(ApplyPlanTest, OnlyWhatTheSetMadeIsPruned) {
    wanted_.jobs = {Wanted("mine"), Wanted("other"), Wanted("hand")};
    Plan plan = Make();
    Store(plan.items[0]);
    plan.items[1].body = plan.items[1].body.With("/labels/apply_set", Json::Of("another"));
    Store(plan.items[1]);
    plan.items[2].body = plan.items[2].body.Without("/labels");
    Store(plan.items[2]);
    wanted_.jobs.clear();
    EXPECT_TRUE(Make().items.empty());
    plan = Make(true);
    ASSERT_EQ(plan.items.size(), 1U);
    EXPECT_EQ(plan.items[0].name, "mine");
    EXPECT_EQ(plan.items[0].verb, PlanVerb::kDelete);
    EXPECT_EQ(plan.items[0].if_match, "\"1\"");
}

TEST_F(ApplyPlanTest, WhatIsThereIsTakenOver) {
    wanted_.jobs = {Wanted("a")};
    PlanItem item = Make().items[0];
    item.body = item.body.Without("/labels");
    Store(item);
    const Plan plan = Make();
    EXPECT_EQ(plan.items[0].verb, PlanVerb::kChange);
    EXPECT_TRUE(plan.items[0].adopted);
}

TEST_F(ApplyPlanTest, CalendarsAndGroupsAreComparedByWhatTheyDefine) {
    schedule::Calendar calendar;
    calendar.name = "cn";
    wanted_.calendars = {calendar};
    wanted_.groups = {{"g", "", 5, codec::DefinedGroup::Rate{10, std::chrono::minutes(1), {}}}};
    EXPECT_EQ(Make().Count(PlanVerb::kCreate), 2U);
    stored_.calendars["cn"] = Parsed(
        R"({"name": "cn", "exclude": [], "include": [], "swaps": [], "version": 3,
            "updated_at": "2026-01-01T00:00:00Z"})");
    stored_.groups["g"] = Parsed(
        R"({"name": "g", "max_concurrency": 5, "rate": {"count": 10, "per": "1m", "burst": 1},
            "jobs": 3, "running": 1, "waiting": 0, "paused_jobs": 0, "version": 2})");
    EXPECT_EQ(Make().Count(PlanVerb::kSame), 2U) << PlanText(Make(), {});
    wanted_.groups[0].max_concurrency.reset();
    Plan plan = Make();
    EXPECT_EQ(plan.items[1].changes, (std::vector<FieldChange>{{"max_concurrency", "5", ""}}));
    EXPECT_EQ(plan.items[1].if_match, "\"2\"");
    // A group that jobs name but that has no stored record.
    stored_.groups["g"] = Parsed(R"({"name": "g", "max_concurrency": null, "rate": null,
                                     "jobs": 3, "version": 0})");
    plan = Make();
    EXPECT_EQ(plan.items[1].verb, PlanVerb::kChange);
    EXPECT_EQ(plan.items[1].if_match, "");
}

class DefinitionFilesTest : public ::testing::Test {
  protected:
    void Write(const std::string& name, const std::string& text) {
        std::filesystem::create_directories(
            std::filesystem::path(folder_.File(name)).parent_path());
        std::ofstream(folder_.File(name)) << text;
    }
    Result<DefinedItems> Read(const std::vector<std::string>& paths) {
        return ReadDefinitionFiles(paths, app_.process());
    }
    static std::string Job(const std::string& id) {
        return "[[jobs]]\nid = \"" + id +
               "\"\nname = \"n\"\nschedule = {kind = \"every\", every = \"1m\"}\n"
               "http = {url = \"http://127.0.0.1/\"}\n";
    }

    test::TemporaryFolder folder_;
    test::AppProcess app_;
};

TEST_F(DefinitionFilesTest, ReadsFoldersFilesAndStandardInput) {
    Write("d/b.toml", Job("b") + "[[groups]]\nname = \"g\"\nmax_concurrency = 2\n");
    Write("d/below/a.toml", Job("a") + "enabled = false\n");
    Write("d/c.json", R"({"calendars": [{"name": "cn", "exclude": [{"yearly": "12-25"}]}]})");
    Write("d/notes.txt", "not for us");
    app_.Type(Job("from_pipe"));
    const auto things = Read({folder_.File("d"), "-"});
    ASSERT_TRUE(things) << things.error().Describe();
    ASSERT_EQ(things->jobs.size(), 3U);
    EXPECT_EQ(things->jobs[0].job.id, "b");
    EXPECT_FALSE(things->jobs[0].says_enabled);
    EXPECT_EQ(things->jobs[1].job.id, "a");
    EXPECT_TRUE(things->jobs[1].says_enabled);
    EXPECT_EQ(things->jobs[2].job.id, "from_pipe");
    EXPECT_EQ(things->calendars.size(), 1U);
    EXPECT_EQ(things->groups.at(0).max_concurrency, 2);
}

TEST_F(DefinitionFilesTest, NamesEveryFaultOfEveryFile) {
    Write("d/1.toml", Job("same") +
                          "[[jobs]]\nname = \"no id\"\nschedule = {kind = \"every\", "
                          "every = \"1m\"}\nhttp = {url = \"http://127.0.0.1/\"}\n");
    Write("d/2.toml", Job("same"));
    Write("d/3.toml", "[[jobs]]\nnmae = 1\n");
    const auto things = Read({folder_.File("d")});
    ASSERT_FALSE(things);
    const std::string text = things.error().Describe();
    EXPECT_NE(text.find("1.toml/jobs/1/id: is missing"), std::string::npos) << text;
    EXPECT_NE(text.find("2.toml/jobs/0: job same is defined in"), std::string::npos) << text;
    EXPECT_NE(text.find("3.toml/jobs/0/nmae: is not known here"), std::string::npos) << text;
}

TEST_F(DefinitionFilesTest, JudgesWhatTheValuesMean) {
    Write("a.toml",
          "[[jobs]]\nid = \"a\"\nname = \"n\"\n"
          "schedule = {kind = \"cron\", cron = \"0 75 * * *\", calendar = \"on_the_server\"}\n"
          "http = {url = \"ftp://x\"}\n");
    const auto things = Read({folder_.File("a.toml")});
    ASSERT_FALSE(things);
    const std::string text = things.error().Describe();
    EXPECT_NE(text.find("a.toml/jobs/0/schedule/cron: "), std::string::npos) << text;
    EXPECT_NE(text.find("a.toml/jobs/0/http/url: "), std::string::npos) << text;
    EXPECT_EQ(text.find("calendar"), std::string::npos) << "it may be there: " << text;
}

TEST_F(DefinitionFilesTest, JudgesGroups) {
    Write("a.toml",
          "[[groups]]\nname = \"a b\"\nmax_concurrency = 0\nrate = {count = 0, per = \"0s\"}\n");
    const auto things = Read({folder_.File("a.toml")});
    ASSERT_FALSE(things);
    EXPECT_EQ(things.error().problems.size(), 4U) << things.error().Describe();
}

TEST_F(DefinitionFilesTest, MissingFilesAndEmptyFolders) {
    EXPECT_FALSE(Read({folder_.File("none.toml")}));
    Write("empty/readme.txt", "");
    const auto empty = Read({folder_.File("empty")});
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().code, Code::kNotFound);
}

}  // namespace
}  // namespace ksana::app
