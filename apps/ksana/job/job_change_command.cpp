#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include "apps/ksana/job/job_definition.hpp"
#include "apps/ksana/job/job_delete.hpp"
#include "apps/ksana/job/job_filter.hpp"
#include "apps/ksana/run/run_watch.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "apps/ksana/toolkit/text_file.hpp"
#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

std::string WhenItFires(const ApiSession& session, const Json& job) {
    const std::string next = job.TextAt("/next_run_at");
    if (!next.empty()) return "next run " + session.style.Time(next);
    if (job.TextAt("/schedule/kind") == "after") return "which fires after other jobs";
    return job.At("/enabled").True() ? "which never fires" : "which is paused";
}

Result<int> CreateJob(ApiSession& session) {
    KSANA_TRY(const Json definition, DefinitionOf(session.arguments, session.process));
    KSANA_TRY(const auto answer, session.api.Post(ApiPath({"jobs"}), definition));
    ShowChange(session, answer.json,
               fmt::format("created {}, {}", answer.json.TextAt("/id"),
                           WhenItFires(session, answer.json)));
    return kExitOk;
}

// Reads --parameters and --param day=monday. A value is parsed as JSON (number, true, false, null,
// list, object); anything else is a text.
Result<Json> ParametersOf(const Arguments& arguments, const Process& process) {
    Json parameters;
    if (arguments.Given("parameters")) {
        const std::string& given = arguments.Get("parameters");
        std::string text = given;
        if (given.starts_with('@')) {
            KSANA_TRY(text, ReadTextFile(given.substr(1), process));
        }
        auto parsed = Json::Parse(text);
        if (!parsed) return std::move(parsed).error().WithContext("--parameters");
        parameters = *parsed;
    }
    for (const std::string& param : arguments.All("param")) {
        KSANA_TRY(const auto pair, PairOf("param", param, '='));
        const auto value = Json::Parse(pair.second);
        parameters =
            parameters.With(PointerStep(pair.first), value ? *value : Json::Of(pair.second));
    }
    return parameters;
}

Result<int> RunJob(ApiSession& session) {
    const Arguments& arguments = session.arguments;
    KSANA_TRY(const Json parameters, ParametersOf(arguments, session.process));
    Json body = Json::Object();
    if (!parameters.IsNull()) body = body.With("/parameters", parameters);
    if (arguments.Has("obey-overlap")) body = body.With("/obeys_overlap", Json::Of(true));
    if (arguments.Has("obey-dependencies")) {
        body = body.With("/obeys_dependencies", Json::Of(true));
    }
    KSANA_TRY(const auto answer, session.api.Post(ApiPath({"jobs", session.Word(0), "run"}), body));
    const std::string id = answer.json.TextAt("/id");
    if (arguments.Has("watch")) return WatchRun(session, id);
    ShowChange(session, answer.json, fmt::format("run {} of {}", id, session.Word(0)));
    return kExitOk;
}

struct Verb {
    std::string_view path;  // the last part of the route
    std::string_view done;  // "paused"
};
constexpr Verb kPause{"pause", "paused"};
constexpr Verb kResume{"resume", "resumed"};

Result<int> ChangeOne(ApiSession& session, const Verb& verb, const std::string& id) {
    Json body = Json::Object();
    const bool has_reason = verb.path == kPause.path && session.arguments.Has("reason");
    if (has_reason) body = body.With("/reason", Json::Of(session.arguments.Get("reason")));
    KSANA_TRY(const auto answer, session.api.Post(ApiPath({"jobs", id, verb.path}), body));
    ShowChange(session, answer.json, fmt::format("{} {}", verb.done, id));
    return kExitOk;
}

// One request changes about a thousand jobs. Repeats it while more jobs match and the last request
// changed some.
Result<int> ChangeMany(ApiSession& session, const Verb& verb) {
    KSANA_TRY(Json body, JobFilterBody(session.arguments));
    if (session.arguments.Has("all")) body = body.With("/all", Json::Of(true));
    if (verb.path == kPause.path && session.arguments.Has("reason")) {
        body = body.With("/reason", Json::Of(session.arguments.Get("reason")));
    }
    std::int64_t changed = 0;
    std::int64_t failed = 0;
    for (;;) {
        KSANA_TRY(const auto answer, session.api.Post(ApiPath({"jobs", verb.path}), body));
        const std::int64_t now = answer.json.At("/changed_count").Int().value_or(0);
        changed += now;
        if (!session.style.IsTable()) {
            ShowOne(session, answer.json, "/changed_count");
        }
        for (const Json& one : answer.json.At("/failed").Items()) {
            ++failed;
            session.Note(fmt::format("{}: {}", Printable(one.TextAt("/id")),
                                     Printable(one.TextAt("/detail"))));
        }
        if (!answer.json.At("/more").True() || now == 0) break;
        if (!session.output.Flush()) return kExitFailed;
    }
    if (session.style.IsTable()) {
        session.output.out +=
            fmt::format("{} {} {}\n", verb.done, changed, changed == 1 ? "job" : "jobs");
    }
    return failed == 0 ? kExitOk : kExitFailed;
}

Result<int> Change(ApiSession& session, const Verb& verb) {
    const bool many = HasJobFilter(session.arguments) || session.arguments.Has("all");
    const auto& ids = session.arguments.words();
    if (many == !ids.empty()) {
        return Error(Code::kInvalidArgument,
                     many ? "ids and filters cannot both be given"
                          : "say which: an ID, --group NAME, another filter, or --all");
    }
    if (many) return ChangeMany(session, verb);
    int worst = kExitOk;
    for (const std::string& id : ids) {
        const auto done = ChangeOne(session, verb, id);
        if (done) continue;
        if (ids.size() == 1) return done.error();
        worst = Fail(done.error(), session.output);
    }
    return worst;
}

std::vector<OptionSpec> ChangeOptions(bool pause) {
    std::vector<OptionSpec> options = JobFilterOptions();
    options.push_back({"all", '\0', "", "every job there is", ""});
    if (pause) options.push_back({"reason", '\0', "TEXT", "why; it is shown with the job", ""});
    return options;
}

std::vector<OptionSpec> RunOptions() {
    std::vector<OptionSpec> options = {
        {"param", 'p', "NAME=VALUE", "parameter; JSON where it is, else a text", "", {}, true},
        {"parameters", '\0', "JSON", "all parameters as an object; @FILE: from a file", ""},
        {"obey-overlap", '\0', "", "by the job's overlap policy, as a fire would", ""},
        {"obey-dependencies", '\0', "", "waits for the jobs of depends_on, as a fire would", ""},
        {"watch", 'w', "", "waits for its end; exit code 7 where it did not succeed", ""}};
    for (OptionSpec& option : WatchOptions()) options.push_back(std::move(option));
    return options;
}

}  // namespace

std::vector<Command> JobChangeCommands(const Process& process) {
    return {
        {.path = "job create",
         .words = "[ID]",
         .summary = "Makes a job, from flags or from a file",
         .details = "  ksana job create dump --command 'pg_dump shop' --cron '0 3 * * *'\n"
                    "  ksana job create nightly --url http://127.0.0.1/report --cron '0 3 * * *'\n"
                    "  ksana job create -f nightly.toml\n"
                    "\nWithout an ID one is drawn. Many at once: ksana apply.\n",
         .options = DefinitionOptions(),
         .run = MakeApiCommand(process, CreateJob),
         .optional_words = 1,
         .asks_server = true},
        {.path = "job edit",
         .words = "ID",
         .summary = "Opens the definition of a job in an editor, and stores it",
         .details = "The editor is VISUAL, else EDITOR, else vi. Where somebody else has changed\n"
                    "the job meanwhile (exit code 5) or the text is refused, the text is kept in\n"
                    "a file that is named.\n",
         .word_count = 1,
         .options = {{"file", 'f', "FILE", "this definition instead of an editor's (-: stdin)",
                      ""}},
         .run = MakeApiCommand(process, EditJob),
         .asks_server = true},
        {.path = "job delete",
         .words = "[ID...]",
         .summary = "Deletes a job, or all that a filter chooses",
         .details = "One job: asks first. More than one, or a filter: says how many they are and\n"
                    "wants --yes.\n",
         .options = DeleteOptions(),
         .run = MakeApiCommand(process, DeleteJobs),
         .optional_words = kAnyWords,
         .asks_server = true},
        {.path = "job run",
         .words = "ID",
         .summary = "Runs a job once, right now, beside its schedule",
         .details = "",
         .word_count = 1,
         .options = RunOptions(),
         .run = MakeApiCommand(process, RunJob, Signals::kWaitable),
         .asks_server = true},
        {.path = "job pause",
         .words = "[ID...]",
         .summary = "Keeps jobs from firing until they are resumed",
         .details = "",
         .options = ChangeOptions(true),
         .run =
             MakeApiCommand(process, [](ApiSession& session) { return Change(session, kPause); }),
         .optional_words = kAnyWords,
         .asks_server = true},
        {.path = "job resume",
         .words = "[ID...]",
         .summary = "Lets paused jobs fire again",
         .details = "",
         .options = ChangeOptions(false),
         .run =
             MakeApiCommand(process, [](ApiSession& session) { return Change(session, kResume); }),
         .optional_words = kAnyWords,
         .asks_server = true},
    };
}

}  // namespace ksana::app
