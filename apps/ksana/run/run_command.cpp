#include "apps/ksana/run/run_command.hpp"

#include <fmt/core.h>

#include <array>

#include "apps/ksana/run/run_trace.hpp"
#include "apps/ksana/run/run_watch.hpp"
#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/client/api_list.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

std::span<const Column> AttemptColumns() {
    using Kind = Column::Kind;
    static const std::array<Column, 6> columns = {{
        {.title = "ATTEMPT", .pointer = "/number"},
        {.title = "OUTCOME", .pointer = "/outcome", .kind = Kind::kState},
        {.title = "STARTED", .pointer = "/started_at", .kind = Kind::kTime},
        {.title = "ENDED", .pointer = "/ended_at", .kind = Kind::kTime},
        {.title = "BY", .pointer = "/owner"},
        {.title = "ERROR", .pointer = "/error"},
    }};
    return columns;
}

Result<int> ListRuns(ApiSession& session) {
    const Arguments& arguments = session.arguments;
    KSANA_TRY(const std::size_t most, ListLimitOf(arguments));
    client::Query query;
    for (const std::string& state : arguments.All("state")) query.emplace_back("state", state);
    for (const auto& [option, name] : {std::pair("job", "job"),
                                       {"trigger", "trigger"},
                                       {"kind", "kind"},
                                       {"parent", "parent"},
                                       {"finished-from", "finished_from"},
                                       {"finished-until", "finished_until"},
                                       {"filter", "q"},
                                       {"sort", "sort"}}) {
        if (arguments.Has(option)) query.emplace_back(name, arguments.Get(option));
    }
    KSANA_TRY(const auto list, client::ListAll(session.api, ApiPath({"runs"}), query, most));
    ShowList(session, {.noun = "runs", .columns = RunColumns()}, list);
    return kExitOk;
}

Result<int> GetRun(ApiSession& session) {
    KSANA_TRY(const auto answer, session.api.Get(ApiPath({"runs", session.Word(0)})));
    if (!session.style.IsTable() || !session.style.fields.empty()) {
        ShowOne(session, answer.json);
        return kExitOk;
    }
    ShowOne(session, answer.json.Without("/attempts"));
    const std::vector<Json> attempts = answer.json.At("/attempts").Items();
    if (attempts.empty()) return kExitOk;
    session.output.out += "\n";
    ShowItems(session, {.noun = "attempts", .columns = AttemptColumns()}, attempts, Json());
    return kExitOk;
}

Result<int> WatchOne(ApiSession& session) { return WatchRun(session, session.Word(0)); }

// Indents every line of a text and makes it printable.
std::string Indented(const std::string& text) {
    std::string out;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        out += line.empty() ? "\n" : fmt::format("  {}\n", Printable(line));
    }
    return out;
}

// Formats the detail of an attempt: a text unchanged, JSON indented.
std::string DetailText(const Json& detail) {
    if (detail.IsNull()) return "";
    return Indented(detail.IsText() ? detail.Text() : detail.Pretty());
}

Result<int> ShowLog(ApiSession& session) {
    KSANA_TRY(const auto answer, session.api.Get(ApiPath({"runs", session.Word(0)})));
    const Json attempts = answer.json.At("/attempts");
    const Style& style = session.style;
    if (!style.IsTable() || !style.fields.empty()) {
        ShowItems(session,
                  {.noun = "attempts", .name_pointer = "/number", .columns = AttemptColumns()},
                  attempts.Items(), attempts);
        return kExitOk;
    }
    std::string& out = session.output.out;
    for (const Json& attempt : attempts.Items()) {
        const std::string outcome = attempt.TextAt("/outcome");
        out += fmt::format("attempt {}  {}  {}\n", attempt.TextAt("/number"),
                           style.Time(attempt.TextAt("/started_at")),
                           outcome.empty() ? style.Paint(Hue::kBusy, "running")
                                           : style.Paint(HueOf(outcome), Printable(outcome)));
        if (attempt.Has("/error")) out += Indented(attempt.TextAt("/error"));
        out += DetailText(attempt.At("/detail"));
    }
    if (answer.json.Has("/result")) out += "result\n" + DetailText(answer.json.At("/result"));
    if (attempts.Items().empty()) {
        session.Note(
            fmt::format("The run is {}: nothing was tried yet.", answer.json.TextAt("/state")));
    }
    return kExitOk;
}

Result<int> CancelRun(ApiSession& session) {
    const std::string& id = session.Word(0);
    KSANA_TRY(const auto answer, session.api.Post(ApiPath({"runs", id, "cancel"})));
    ShowChange(session, answer.json,
               answer.status == 202 ? fmt::format("asked {} to stop", id)
                                    : fmt::format("cancelled {}", id));
    return kExitOk;
}

Result<int> Retry(ApiSession& session) {
    KSANA_TRY(const auto answer, session.api.Post(ApiPath({"runs", session.Word(0), "retry"})));
    const std::string id = answer.json.TextAt("/id");
    if (session.arguments.Has("watch")) return WatchRun(session, id);
    ShowChange(session, answer.json, fmt::format("run {} after {}", id, session.Word(0)));
    return kExitOk;
}

Json RemarkOf(const ApiSession& session) {
    const Json body = Json::Object();
    if (!session.arguments.Has("remark")) return body;
    return body.With("/remark", Json::Of(session.arguments.Get("remark")));
}

// Makes the body of a command that a person applies to a run: `verb` is the API's, `done` its past
// tense.
ApiBody ByHand(const char* verb, const char* done) {
    return [verb, done](ApiSession& session) -> Result<int> {
        const std::string& id = session.Word(0);
        KSANA_TRY(const auto answer,
                  session.api.Post(ApiPath({"runs", id, verb}), RemarkOf(session)));
        ShowChange(session, answer.json, fmt::format("{} {}", done, id));
        return kExitOk;
    };
}

Result<int> DeleteRun(ApiSession& session) {
    const std::string& id = session.Word(0);
    KSANA_TRY(const bool sure, Confirm(session, fmt::format("Delete the run {}?", id)));
    if (!sure) return kExitFailed;
    KSANA_TRY(const auto answer, session.api.Delete(ApiPath({"runs", id})));
    session.output.out += fmt::format("deleted {}\n", id);
    return kExitOk;
}

Json PurgeBody(const Arguments& arguments, bool dry_run) {
    std::vector<Json> states;
    for (const std::string& state : arguments.All("state")) states.push_back(Json::Of(state));
    const Json body = Json::Object()
                          .With("/finished_before", Json::Of(arguments.Get("before")))
                          .With("/dry_run", Json::Of(dry_run));
    return states.empty() ? body : body.With("/states", Json::Array(states));
}

std::string RunCount(std::int64_t count) {
    return fmt::format("{} {}", count, count == 1 ? "run" : "runs");
}

// One request deletes a bounded number; repeats it until none is left.
Result<int> Purge(ApiSession& session) {
    const Arguments& arguments = session.arguments;
    if (!arguments.Has("before")) {
        return Error(Code::kInvalidArgument, "say which: --before TIME");
    }
    const std::string path = ApiPath({"runs", "purge"});
    KSANA_TRY(const auto found, session.api.Post(path, PurgeBody(arguments, true)));
    const std::int64_t there = found.json.At("/runs").Int().value_or(0);
    const std::string_view above = found.json.At("/more").True() ? "more than " : "";
    if (there == 0) {
        session.Note("There are no such runs.");
        return kExitOk;
    }
    if (arguments.Has("dry-run")) {
        session.output.out += fmt::format("would delete {}{}\n", above, RunCount(there));
        return kExitOk;
    }
    KSANA_TRY(const bool sure,
              Confirm(session, fmt::format("Delete {}{} that ended before {}?", above,
                                           RunCount(there), Printable(arguments.Get("before")))));
    if (!sure) return kExitFailed;
    std::int64_t deleted = 0;
    for (bool more = true; more;) {
        KSANA_TRY(const auto answer, session.api.Post(path, PurgeBody(arguments, false)));
        deleted += answer.json.At("/runs").Int().value_or(0);
        more = answer.json.At("/more").True();
    }
    session.output.out += fmt::format("deleted {}\n", RunCount(deleted));
    return kExitOk;
}

std::vector<OptionSpec> PurgeOptions() {
    return {{"before", '\0', "TIME", "runs that ended before then", ""},
            {"state",
             's',
             "STATE",
             "runs that ended in this state (more than once: in any of them)",
             "",
             {"succeeded", "failed", "timed_out", "cancelled", "resolved", "skipped", "missed"},
             true},
            {"dry-run", '\0', "", "says how many there are, and deletes none", ""}};
}

std::vector<OptionSpec> RunListOptions() {
    std::vector<OptionSpec> options = {
        {"job", 'j', "ID", "runs of this job", ""},
        {"state",
         's',
         "STATE",
         "runs in this state (more than once: in any of them)",
         "",
         {},
         true},
        {"trigger", '\0', "NAME", "what made them: fire, manual, backfill, submitted, callback",
         ""},
        {"kind", '\0', "TYPE", "http, command, handler or queue", ""},
        {"parent", '\0', "ID", "runs that were made after this one", ""},
        {"finished-from", '\0', "TIME", "runs that ended from then on", ""},
        {"finished-until", '\0', "TIME", "runs that ended before then", ""},
        {"filter", '\0', "WORDS", "runs with these words in type, job or last error", ""},
        {"sort", '\0', "FIELD",
         "order: id, ready_at, finished_at, -id, ... (default: newest first)", ""}};
    for (OptionSpec& option : ListOptions()) options.push_back(std::move(option));
    return options;
}

OptionSpec RemarkOption() { return {"remark", 'm', "TEXT", "what you have to say about it", ""}; }

std::vector<OptionSpec> RetryOptions() {
    std::vector<OptionSpec> options = {
        {"watch", 'w', "", "waits for its end; exit code 7 where it did not succeed", ""}};
    for (OptionSpec& option : WatchOptions()) options.push_back(std::move(option));
    return options;
}

}  // namespace

std::span<const Column> RunColumns() {
    using Kind = Column::Kind;
    static const std::array<Column, 10> columns = {{
        {.title = "ID", .pointer = "/id"},
        {.title = "JOB", .pointer = "/job_id"},
        {.title = "STATE", .pointer = "/state", .kind = Kind::kState},
        {.title = "TRIGGER", .pointer = "/trigger", .wide = true},
        {.title = "FIRE", .pointer = "/nominal_at", .kind = Kind::kTime, .wide = true},
        {.title = "STARTED", .pointer = "/started_at", .kind = Kind::kTime},
        {.title = "TOOK", .pointer = "", .make = TookText},
        {.title = "ATTEMPT", .pointer = "/attempt", .wide = true},
        {.title = "OWNER", .pointer = "/owner", .wide = true},
        {.title = "ERROR", .pointer = "/last_error"},
    }};
    return columns;
}

std::vector<Command> RunCommands(const Process& process) {
    const auto one = [&process](std::string_view path, std::string_view summary,
                                std::string_view details, std::vector<OptionSpec> options,
                                ApiBody body, Signals signals = Signals::kDefaultAction) {
        return Command{.path = path,
                       .words = "ID",
                       .summary = summary,
                       .details = details,
                       .word_count = 1,
                       .options = std::move(options),
                       .run = MakeApiCommand(process, std::move(body), signals),
                       .asks_server = true};
    };
    return {
        {.path = "run list",
         .words = "",
         .summary = "Lists runs, the newest first",
         .details = "",
         .options = RunListOptions(),
         .run = MakeApiCommand(process, ListRuns),
         .asks_server = true},
        one("run get", "Shows one run with its attempts", "", {}, GetRun),
        one("run watch", "Waits for the end of a run",
            "The exit code is its verdict: 0 where it succeeded, 7 where it did not; 124\n"
            "where it is not over after --max-wait.\n",
            WatchOptions(), WatchOne, Signals::kWaitable),
        one("run trace", "Shows the trace of a run as a waterfall",
            "What happened when, from the run's record: waits, attempts, calls, callbacks.\n"
            "The trace id leads to the same spans in a tracing system (docs/tracing.md).\n",
            {}, TraceRun),
        one("run log", "Shows what the attempts of a run left behind", "", {}, ShowLog),
        one("run cancel", "Stops a run", "", {}, CancelRun),
        one("run retry", "Runs again what is over without success",
            "A final state is never left: a new run follows. One that is held goes on itself.\n",
            RetryOptions(), Retry, Signals::kWaitable),
        one("run resolve", "Closes a run that is held",
            "A person has done its work, or found that it need not be done. Those that are\n"
            "held: `ksana run list --state held`.\n",
            {RemarkOption()}, ByHand("resolve", "resolved")),
        one("run send-back", "Lets a run that is held go on",
            "It goes back to the queue with its retries anew.\n", {RemarkOption()},
            ByHand("send-back", "sent back")),
        one("run hold", "Keeps a run that waits until a person lets it go on", "", {RemarkOption()},
            ByHand("hold", "held")),
        one("run delete", "Deletes a run that is over", "", {}, DeleteRun),
        {.path = "run purge",
         .words = "",
         .summary = "Deletes runs that ended before a time",
         .details = "The oldest first, with their attempts. There is no way back: it asks first,\n"
                    "unless --yes is said.\n",
         .options = PurgeOptions(),
         .run = MakeApiCommand(process, Purge),
         .asks_server = true},
    };
}

}  // namespace ksana::app
