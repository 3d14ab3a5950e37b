#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include <array>

#include "apps/ksana/run/run_watch.hpp"
#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

// An option whose value becomes a member unchanged.
struct Member {
    std::string_view option;
    std::string_view pointer;
};

constexpr std::array<Member, 9> kTextMembers = {{{"id", "/id"},
                                                 {"tenant", "/tenant"},
                                                 {"creator", "/creator"},
                                                 {"category", "/category"},
                                                 {"start-at", "/start_at"},
                                                 {"delay", "/delay"},
                                                 {"unique", "/unique/key"},
                                                 {"attempt-timeout", "/timeout"},
                                                 {"parent", "/parent"}}};

Result<Json> TaskOf(const ApiSession& session) {
    const Arguments& arguments = session.arguments;
    Json task = Json::Object().With("/type", Json::Of(session.Word(0)));
    for (const Member& member : kTextMembers) {
        if (!arguments.Has(member.option)) continue;
        task = task.With(member.pointer, Json::Of(arguments.Get(member.option)));
    }
    if (arguments.Has("payload")) {
        auto payload = Json::Parse(arguments.Get("payload"));
        if (!payload) return std::move(payload).error().WithContext("--payload");
        task = task.With("/payload", *payload);
    }
    if (arguments.Has("priority")) {
        KSANA_TRY(const int priority, arguments.GetNumber("priority", 0, 9));
        task = task.With("/priority", Json::Of(std::int64_t{priority}));
    }
    if (arguments.Has("max-retries")) {
        KSANA_TRY(const int retries, arguments.GetNumber("max-retries", 0, 1'000));
        task = task.With("/retry/max_retries", Json::Of(std::int64_t{retries}));
    }
    return task;
}

Result<int> Submit(ApiSession& session) {
    KSANA_TRY(const Json task, TaskOf(session));
    KSANA_TRY(const auto answer, session.api.Post(ApiPath({"runs"}), task));
    const std::string id = answer.json.TextAt("/id");
    if (session.arguments.Has("watch")) return WatchRun(session, id);
    const bool already = answer.json.At("/already").True();
    ShowChange(session, answer.json,
               already ? fmt::format("run {} holds the key already", id)
                       : fmt::format("submitted {}", id));
    return kExitOk;
}

std::span<const Column> ClaimedColumns() {
    static const std::array<Column, 6> columns = {{
        {.title = "RUN", .pointer = "/run_id"},
        {.title = "EXEC", .pointer = "/exec_id"},
        {.title = "TYPE", .pointer = "/type"},
        {.title = "ATTEMPT", .pointer = "/attempt"},
        {.title = "TENANT", .pointer = "/tenant", .wide = true},
        {.title = "PAYLOAD", .pointer = "/payload"},
    }};
    return columns;
}

Json ListOf(const std::vector<std::string>& texts) {
    std::vector<Json> items;
    items.reserve(texts.size());
    for (const std::string& text : texts) items.push_back(Json::Of(text));
    return Json::Array(items);
}

Result<Json> ClaimOf(const Arguments& arguments) {
    Json claim = Json::Object().With("/worker", Json::Of(arguments.Get("worker")));
    for (const std::string_view option : {"lease", "wait", "tenant", "creator"}) {
        if (!arguments.Has(option)) continue;
        claim = claim.With(fmt::format("/{}", option), Json::Of(arguments.Get(option)));
    }
    if (arguments.Has("type")) claim = claim.With("/types", ListOf(arguments.All("type")));
    if (arguments.Has("category")) {
        claim = claim.With("/categories", ListOf(arguments.All("category")));
    }
    KSANA_TRY(const int most, arguments.GetNumber("max", 1, 500));
    return claim.With("/max", Json::Of(std::int64_t{most}));
}

Result<int> Claim(ApiSession& session) {
    KSANA_TRY(const Json claim, ClaimOf(session.arguments));
    KSANA_TRY(const auto answer, session.api.Post(ApiPath({"agent", "claim"}), claim));
    const Json runs = answer.json.At("/runs");
    ShowItems(session,
              {.noun = "runs to work on", .name_pointer = "/run_id", .columns = ClaimedColumns()},
              runs.Items(), runs.IsNull() ? Json::Array({}) : runs);
    return kExitOk;
}

std::vector<OptionSpec> SubmitOptions() {
    std::vector<OptionSpec> options = {
        {"payload", 'p', "JSON", "what it is to work with", ""},
        {"priority", '\0', "N", "0 to 9; 5 where nothing is said", ""},
        {"tenant", '\0', "NAME", "whose it is", ""},
        {"creator", '\0', "NAME", "who wants it", ""},
        {"category", '\0', "NAME", "else the type's", ""},
        {"start-at", '\0', "TIME", "not before", ""},
        {"delay", '\0', "DURATION", "not before so long from now", ""},
        {"unique", '\0', "KEY", "one run at a time holds the key", ""},
        {"attempt-timeout", '\0', "DURATION", "longest attempt; else the type's", ""},
        {"max-retries", '\0', "N", "else the type's", ""},
        {"parent", '\0', "ID", "the run that it belongs to", ""},
        {"id", '\0', "ID", "a UUID: the same twice is one run", ""},
        {"watch", 'w', "", "waits for its end; exit code 7 where it did not succeed", ""}};
    for (OptionSpec& option : WatchOptions()) options.push_back(std::move(option));
    return options;
}

std::vector<OptionSpec> ClaimOptions() {
    return {{"type", 't', "CODE", "runs of this type (more than once: of any)", "", {}, true},
            {"category", '\0', "NAME", "of this category (likewise)", "", {}, true},
            {"tenant", '\0', "NAME", "of this tenant", ""},
            {"creator", '\0', "NAME", "by this creator", ""},
            {"worker", '\0', "NAME", "whose they are from then on", "ksana-cli"},
            {"max", 'n', "N", "how many at most", "1"},
            {"lease", '\0', "DURATION", "for how long without a word", "30s"},
            {"wait", '\0', "DURATION", "for the first to come; shorter than --timeout", "0s"}};
}

}  // namespace

std::vector<Command> TaskCommands(const Process& process) {
    return {{.path = "run submit",
             .words = "TYPE",
             .summary = "Submits a task: a run that waits for an agent",
             .details = "",
             .word_count = 1,
             .options = SubmitOptions(),
             .run = MakeApiCommand(process, Submit, Signals::kWaitable),
             .asks_server = true},
            {.path = "run claim",
             .words = "",
             .summary = "Fetches runs to work on, as an agent does",
             .details = "Report on them with the run's id and exec_id (docs/api.md); without a "
                        "word they\ngo to somebody else when the lease ends.\n",
             .options = ClaimOptions(),
             .run = MakeApiCommand(process, Claim),
             .asks_server = true}};
}

}  // namespace ksana::app
