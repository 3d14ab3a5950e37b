#include "apps/ksana/job/job_command.hpp"

#include <fmt/core.h>

#include <array>

#include "apps/ksana/job/job_filter.hpp"
#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/client/api_list.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

std::string StateText(const Json& job, const Style&) {
    return job.At("/enabled").True() ? job.TextAt("/last_state") : "paused";
}

std::span<const Column> JobColumns() {
    using Kind = Column::Kind;
    static const std::array<Column, 11> columns = {{
        {.title = "ID", .pointer = "/id"},
        {.title = "NAME", .pointer = "/name", .wide = true},
        {.title = "GROUP", .pointer = "/group"},
        {.title = "TYPE", .pointer = "/type", .wide = true},
        {.title = "SCHEDULE", .pointer = "", .make = ScheduleText},
        {.title = "LAST", .pointer = "", .kind = Kind::kState, .make = StateText},
        {.title = "LAST RUN", .pointer = "/last_run_at", .kind = Kind::kTime},
        {.title = "NEXT RUN", .pointer = "/next_run_at", .kind = Kind::kTime},
        {.title = "RUNS", .pointer = "/total_runs", .wide = true},
        {.title = "OWNER", .pointer = "/owner", .wide = true},
        {.title = "LAST ERROR", .pointer = "/last_error", .wide = true},
    }};
    return columns;
}

Result<int> ListJobs(ApiSession& session) {
    const Arguments& arguments = session.arguments;
    KSANA_TRY(const std::size_t most, ListLimitOf(arguments));
    KSANA_TRY(client::Query query, JobFilterQuery(arguments));
    for (const auto& [option, name] : {std::pair("enabled", "enabled"),
                                       {"last", "last_state"},
                                       {"sort", "sort"},
                                       {"name", "name"}}) {
        if (arguments.Has(option)) query.emplace_back(name, arguments.Get(option));
    }
    KSANA_TRY(const auto list, client::ListAll(session.api, ApiPath({"jobs"}), query, most));
    ShowList(session, {.noun = "jobs", .columns = JobColumns()}, list);
    return kExitOk;
}

Result<int> GetJob(ApiSession& session) {
    KSANA_TRY(const auto answer, session.api.Get(ApiPath({"jobs", session.Word(0)})));
    ShowOne(session, answer.json);
    return kExitOk;
}

Result<int> NextFires(ApiSession& session) {
    KSANA_TRY(const int count, session.arguments.GetNumber("count", 1, 1000));
    KSANA_TRY(const auto answer, session.api.Get(ApiPath({"jobs", session.Word(0), "fires"}),
                                                 {{"count", std::to_string(count)}}));
    using Kind = Column::Kind;
    static const std::array<Column, 3> columns = {{
        {.title = "FIRES AT", .pointer = "/nominal_at", .kind = Kind::kTime},
        {.title = "STARTS AT", .pointer = "/start_at", .kind = Kind::kTime},
        {.title = "CLOCKS",
         .pointer = "/dst",
         .make =
             [](const Json& fire, const Style&) {
                 const std::string dst = fire.TextAt("/dst");
                 return dst == "none" ? "" : dst;
             }},
    }};
    const std::vector<Json> items = answer.json.At("/items").Items();
    ShowItems(session, {.noun = "fires to come", .name_pointer = "/nominal_at", .columns = columns},
              items, answer.json);
    if (session.style.IsTable() && answer.json.At("/after_others").True()) {
        session.Note("The job fires when the runs of other jobs end: it has no times of its own.");
        return kExitOk;
    }
    if (session.style.IsTable() && !answer.json.At("/enabled").True()) {
        session.Note("The job is paused: none of these comes before it is resumed.");
    }
    return items.empty() ? kExitNever : kExitOk;
}

// Prints the sentence first, as the answer to the user's question, and the facts below it.
Result<int> ExplainJob(ApiSession& session) {
    client::Query query;
    for (const std::string_view option : {"at", "tolerance"}) {
        const std::string& value = session.arguments.Get(option);
        if (!value.empty()) query.emplace_back(option, value);
    }
    KSANA_TRY(const auto answer,
              session.api.Get(ApiPath({"jobs", session.Word(0), "explain"}), std::move(query)));
    const std::string sentence = answer.json.TextAt("/text");
    if (session.style.IsTable() && session.style.fields.empty() && !sentence.empty()) {
        session.output.out += Printable(sentence) + "\n\n";
        ShowOne(session, answer.json.Without("/text"), "/verdict");
    } else {
        ShowOne(session, answer.json, "/verdict");
    }
    return kExitOk;
}

Result<int> Stats(ApiSession& session) {
    client::Query query;
    for (const std::string_view option : {"from", "until"}) {
        const std::string& value = session.arguments.Get(option);
        if (!value.empty()) query.emplace_back(option, value);
    }
    KSANA_TRY(const auto answer,
              session.api.Get(ApiPath({"jobs", session.Word(0), "statistics"}), std::move(query)));
    ShowOne(session, answer.json, "/job_id");
    return kExitOk;
}

std::vector<OptionSpec> JobListOptions() {
    std::vector<OptionSpec> options = JobFilterOptions();
    options.push_back({"name", '\0', "TEXT", "jobs of exactly this name", ""});
    options.push_back({"enabled",
                       '\0',
                       "BOOL",
                       "jobs that fire (true) or are paused (false)",
                       "",
                       {"true", "false"}});
    options.push_back({"last", '\0', "STATE", "jobs whose last run ended so, like failed", ""});
    options.push_back({"sort", '\0', "FIELD", "order, like name or -next_run_at", ""});
    for (OptionSpec& option : ListOptions()) options.push_back(std::move(option));
    return options;
}

}  // namespace

std::string ScheduleText(const Json& job, const Style& style) {
    const std::string kind = job.TextAt("/schedule/kind");
    if (kind == "once") return "once " + style.Time(job.TextAt("/schedule/run_at"));
    if (kind == "every") return "every " + job.TextAt("/schedule/every");
    if (kind == "after") {
        std::string text = "after";
        for (const Json& other : job.At("/schedule/jobs").Items()) {
            text += (text == "after" ? " " : ",") + other.Text();
        }
        return text;
    }
    const std::string zone = job.TextAt("/schedule/zone");
    return job.TextAt("/schedule/cron") + (zone == "UTC" || zone.empty() ? "" : " " + zone);
}

std::vector<Command> JobCommands(const Process& process) {
    return {
        {.path = "job list",
         .words = "",
         .summary = "Lists jobs",
         .details = "",
         .options = JobListOptions(),
         .run = MakeApiCommand(process, ListJobs),
         .asks_server = true},
        {.path = "job get",
         .words = "ID",
         .summary = "Shows one job: its definition and how it went",
         .details = "",
         .word_count = 1,
         .options = {},
         .run = MakeApiCommand(process, GetJob),
         .asks_server = true},
        {.path = "job next",
         .words = "ID",
         .summary = "Shows when a job fires next",
         .details = "Exit code 3: it never fires again.\n",
         .word_count = 1,
         .options = {{"count", 'n', "N", "how many fires", "5"}},
         .run = MakeApiCommand(process, NextFires),
         .asks_server = true},
        {.path = "job explain",
         .words = "ID",
         .summary = "Explains what became of a fire, and why",
         .details = "Why did it run late, twice, or not at all? See docs/explain.md.\n",
         .word_count = 1,
         .options = {{"at", '\0', "TIME", "which fire (default: the last one)", ""},
                     {"tolerance", '\0', "DURATION", "how far from a fire TIME may be", ""}},
         .run = MakeApiCommand(process, ExplainJob),
         .asks_server = true},
        {.path = "job stats",
         .words = "ID",
         .summary = "Shows how the runs of a job went: rates and durations",
         .details = "",
         .word_count = 1,
         .options = {{"from", '\0', "TIME", "runs that ended from then on", ""},
                     {"until", '\0', "TIME", "runs that ended before then", ""}},
         .run = MakeApiCommand(process, Stats),
         .asks_server = true},
    };
}

}  // namespace ksana::app
