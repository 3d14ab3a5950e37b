#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include <array>

#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/client/api_list.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

std::span<const Column> BackfillColumns() {
    using Kind = Column::Kind;
    static const std::array<Column, 11> columns = {{
        {.title = "ID", .pointer = "/id"},
        {.title = "JOB", .pointer = "/job_id"},
        {.title = "STATE", .pointer = "/state", .kind = Kind::kState},
        {.title = "FIRES", .pointer = "/count"},
        {.title = "STARTED", .pointer = "/submitted"},
        {.title = "OK", .pointer = "/succeeded"},
        {.title = "FAILED", .pointer = "/failed"},
        {.title = "FROM", .pointer = "/from", .kind = Kind::kTime, .wide = true},
        {.title = "TO", .pointer = "/to", .kind = Kind::kTime, .wide = true},
        {.title = "MADE", .pointer = "/created_at", .kind = Kind::kTime},
        {.title = "BY", .pointer = "/created_by", .wide = true},
    }};
    return columns;
}

Result<Json> RequestOf(const Arguments& arguments) {
    Json body;
    for (const std::string_view option : {"from", "to"}) {
        if (!arguments.Has(option)) {
            return Error(Code::kInvalidArgument, fmt::format("--{} TIME is missing", option));
        }
        body = body.With(fmt::format("/{}", option), Json::Of(arguments.Get(option)));
    }
    if (arguments.Has("max")) {
        KSANA_TRY(const int most, arguments.GetNumber("max", 1, 1'000'000));
        body = body.With("/max", Json::Of(std::int64_t{most}));
    }
    if (arguments.Has("per-minute")) {
        KSANA_TRY(const int rate, arguments.GetNumber("per-minute", 1, 1'000'000));
        body = body.With("/per_minute", Json::Of(std::int64_t{rate}));
    }
    if (arguments.Has("overlap")) {
        body = body.With("/overlap", Json::Of(arguments.Get("overlap")));
    }
    if (arguments.Has("parameters")) {
        auto parameters = Json::Parse(arguments.Get("parameters"));
        if (!parameters) return std::move(parameters).error().WithContext("--parameters");
        body = body.With("/parameters", *parameters);
    }
    return body;
}

void ShowPlan(ApiSession& session, const Json& plan) {
    const Style& style = session.style;
    session.output.out += fmt::format(
        "job {}: {} fires from {} to {}, {} of them have a run already\n",
        Printable(plan.TextAt("/job_id")), plan.TextAt("/count"), style.Time(plan.TextAt("/from")),
        style.Time(plan.TextAt("/to")), plan.TextAt("/already_there"));
    const std::vector<Json> fires = plan.At("/fires").Items();
    constexpr std::size_t kMostShown = 10;
    for (std::size_t n = 0; n < fires.size() && n < kMostShown; ++n) {
        session.output.out += fmt::format("  {}\n", style.Time(fires[n].Text()));
    }
    if (fires.size() > kMostShown || plan.At("/truncated").True()) {
        session.output.out += fmt::format("  ... up to {}\n", style.Time(plan.TextAt("/last")));
    }
}

// Shows how many runs a backfill would create before it creates any.
Result<int> Backfill(ApiSession& session) {
    KSANA_TRY(const Json request, RequestOf(session.arguments));
    const std::string path = ApiPath({"jobs", session.Word(0), "backfill"});
    KSANA_TRY(const auto plan, session.api.Post(path, request.With("/dry_run", Json::Of(true))));
    const bool dry = session.arguments.Has("dry-run");
    if (session.style.IsTable()) {
        ShowPlan(session, plan.json);
    } else if (dry) {
        ShowOne(session, plan.json, "/job_id");
    }
    if (dry) return kExitOk;
    const std::int64_t wanted =
        plan.json.At("/count").Int().value_or(0) - plan.json.At("/already_there").Int().value_or(0);
    if (wanted <= 0) {
        session.Note("Nothing to do.");
        return kExitOk;
    }
    if (!session.output.Flush()) return kExitFailed;
    KSANA_TRY(const bool agreed,
              Confirm(session, fmt::format("Run the job for these {} fires?", wanted)));
    if (!agreed) return kExitFailed;
    KSANA_TRY(const auto answer, session.api.Post(path, request.With("/dry_run", Json::Of(false))));
    if (session.style.IsTable()) {
        const std::string id = Printable(answer.json.TextAt("/id"));
        session.output.out += fmt::format("backfill {} has begun\n", id);
        session.Note(fmt::format("See how it goes: ksana backfill get {}", id));
    } else {
        ShowOne(session, answer.json);
    }
    return kExitOk;
}

Result<int> ListBackfills(ApiSession& session) {
    KSANA_TRY(const std::size_t most, ListLimitOf(session.arguments));
    KSANA_TRY(const auto list, client::ListAll(session.api, ApiPath({"backfills"}), {}, most));
    ShowList(session, {.noun = "backfills", .columns = BackfillColumns()}, list);
    return kExitOk;
}

Result<int> GetBackfill(ApiSession& session) {
    KSANA_TRY(const auto answer, session.api.Get(ApiPath({"backfills", session.Word(0)})));
    ShowOne(session, answer.json);
    return kExitOk;
}

Result<int> CancelBackfill(ApiSession& session) {
    KSANA_TRY(const bool agreed,
              Confirm(session, fmt::format("Cancel backfill {}?", Printable(session.Word(0)))));
    if (!agreed) return kExitFailed;
    KSANA_TRY(const auto answer,
              session.api.Post(ApiPath({"backfills", session.Word(0), "cancel"})));
    if (session.style.IsTable()) {
        session.output.out += fmt::format("backfill {} is {}\n", Printable(session.Word(0)),
                                          Printable(answer.json.TextAt("/state")));
    } else {
        ShowOne(session, answer.json);
    }
    return kExitOk;
}

constexpr std::string_view kBackfillDetails =
    "Runs a job for nominal fires that lie in the past: before it was made, while the\n"
    "server was down, while it was paused. How many and which is shown first; fires\n"
    "that have a run already are left out. They start a few at a time, and `ksana\n"
    "backfill cancel` stops them all.\n";

}  // namespace

std::vector<Command> BackfillCommands(const Process& process) {
    return {
        {.path = "job backfill",
         .words = "ID",
         .summary = "Runs a job for fires in the past",
         .details = kBackfillDetails,
         .word_count = 1,
         .options = {{"from", '\0', "TIME", "first fire, RFC 3339", ""},
                     {"to", '\0', "TIME", "before this", ""},
                     {"max", '\0', "N", "refuse more fires than this", ""},
                     {"per-minute", '\0', "N", "how many start in a minute", ""},
                     {"overlap", '\0', "RULE", "at once, or in turn", "", {"allow", "queue"}},
                     {"parameters", '\0', "JSON", "parameters of each run, an object", ""},
                     {"dry-run", '\0', "", "show which fires, run nothing", ""}},
         .run = MakeApiCommand(process, Backfill),
         .asks_server = true},
        {.path = "backfill list",
         .words = "",
         .summary = "Lists backfills",
         .details = "",
         .options = ListOptions(),
         .run = MakeApiCommand(process, ListBackfills),
         .asks_server = true},
        {.path = "backfill get",
         .words = "ID",
         .summary = "Shows how far a backfill is",
         .details = "",
         .word_count = 1,
         .options = {},
         .run = MakeApiCommand(process, GetBackfill),
         .asks_server = true},
        {.path = "backfill cancel",
         .words = "ID",
         .summary = "Stops a backfill; runs that have begun are cancelled, too",
         .details = "",
         .word_count = 1,
         .options = {},
         .run = MakeApiCommand(process, CancelBackfill),
         .asks_server = true},
    };
}

}  // namespace ksana::app
