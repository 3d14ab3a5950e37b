#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include <array>

#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/rate_option.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/client/api_list.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

std::span<const Column> GroupColumns() {
    static const std::array<Column, 8> columns = {{
        {.title = "NAME", .pointer = "/name"},
        {.title = "JOBS", .pointer = "/jobs"},
        {.title = "PAUSED", .pointer = "/paused_jobs"},
        {.title = "RUNNING", .pointer = "/running"},
        {.title = "WAITING", .pointer = "/waiting"},
        {.title = "MOST AT ONCE", .pointer = "/max_concurrency"},
        {.title = "RATE",
         .pointer = "",
         .make = [](const Json& group, const Style&) { return RateText(group.At("/rate")); }},
        {.title = "DESCRIPTION", .pointer = "/description", .wide = true},
    }};
    return columns;
}

Result<int> ListGroups(ApiSession& session) {
    KSANA_TRY(const std::size_t most, ListLimitOf(session.arguments));
    KSANA_TRY(const auto list, client::ListAll(session.api, ApiPath({"groups"}), {}, most));
    ShowList(session, {.noun = "groups", .name_pointer = "/name", .columns = GroupColumns()}, list);
    return kExitOk;
}

Result<int> GetGroup(ApiSession& session) {
    KSANA_TRY(const auto answer, session.api.Get(ApiPath({"groups", session.Word(0)})));
    ShowOne(session, answer.json, "/name");
    return kExitOk;
}

// Members that no option names keep their values.
Result<int> SetGroup(ApiSession& session) {
    const Arguments& arguments = session.arguments;
    if (!arguments.Has("max-concurrency") && !arguments.Has("rate") &&
        !arguments.Given("description")) {
        return Error(Code::kInvalidArgument,
                     "say what to set: --max-concurrency, --rate or --description");
    }
    const std::string path = ApiPath({"groups", session.Word(0)});
    Json body;
    std::string tag(client::ApiClient::kMustBeNew);
    if (auto there = session.api.Get(path); there) {
        for (const std::string_view member : {"/description", "/max_concurrency", "/rate"}) {
            if (!there->json.At(member).IsNull()) {
                body = body.With(member, there->json.At(member));
            }
        }
        // Version 0: jobs name the group, but it has no stored record.
        if (there->json.At("/version").Int().value_or(0) > 0) tag = there->HeaderValue("ETag");
    } else if (there.error().code != Code::kNotFound) {
        return std::move(there).error();
    }
    if (arguments.Given("description")) {
        body = body.With("/description", Json::Of(arguments.Get("description")));
    }
    KSANA_TRY(body, WithLimits(std::move(body), arguments));
    KSANA_TRY(const auto answer, session.api.Put(path, body, tag));
    ShowOne(session, answer.json, "/name");
    return kExitOk;
}

Result<int> DeleteGroup(ApiSession& session) {
    const std::string path = ApiPath({"groups", session.Word(0)});
    KSANA_TRY(const auto there, session.api.Get(path));
    if (there.json.At("/version").Int().value_or(0) == 0) {
        return Error(Code::kNotFound,
                     fmt::format("group {} has no limits", Printable(session.Word(0))));
    }
    KSANA_TRY(const bool agreed,
              Confirm(session, fmt::format("Delete the limits of group {}? Its jobs stay.",
                                           Printable(session.Word(0)))));
    if (!agreed) return kExitFailed;
    KSANA_TRY_VOID(session.api.Delete(path, there.HeaderValue("ETag")));
    if (session.style.IsTable()) {
        session.output.out +=
            fmt::format("limits of group {} deleted\n", Printable(session.Word(0)));
    }
    return kExitOk;
}

// One request changes a part of a large group; repeats it until no job is left.
Result<int> PauseOrResume(ApiSession& session, std::string_view verb) {
    constexpr int kMostRounds = 1000;
    Json body;
    if (verb == "pause") body = body.With("/reason", Json::Of(session.arguments.Get("reason")));
    std::int64_t changed = 0;
    std::vector<Json> failed;
    Json last;
    for (int round = 0; round < kMostRounds; ++round) {
        KSANA_TRY(const auto answer,
                  session.api.Post(ApiPath({"groups", session.Word(0), verb}), body));
        last = answer.json;
        const std::int64_t now = last.At("/changed_count").Int().value_or(0);
        changed += now;
        for (const Json& one : last.At("/failed").Items()) failed.push_back(one);
        if (!last.At("/more").True() || now == 0) break;
    }
    if (session.style.IsTable()) {
        session.output.out += fmt::format("group {}: {} job{} {}d\n", Printable(session.Word(0)),
                                          changed, changed == 1 ? "" : "s", verb);
    } else {
        ShowOne(session, last, "/changed");
    }
    for (const Json& one : failed) {
        session.output.err += fmt::format("job {}: {}\n", Printable(one.TextAt("/id")),
                                          Printable(one.TextAt("/detail")));
    }
    return failed.empty() ? kExitOk : kExitFailed;
}

}  // namespace

std::vector<Command> GroupCommands(const Process& process) {
    std::vector<OptionSpec> set_options = LimitOptions();
    set_options.push_back({"description", '\0', "TEXT", "what the group is for", ""});
    return {
        {.path = "group list",
         .words = "",
         .summary = "Lists the groups of jobs, their limits and what runs",
         .details = "",
         .options = ListOptions(),
         .run = MakeApiCommand(process, ListGroups),
         .asks_server = true},
        {.path = "group get",
         .words = "NAME",
         .summary = "Shows one group",
         .details = "",
         .word_count = 1,
         .options = {},
         .run = MakeApiCommand(process, GetGroup),
         .asks_server = true},
        {.path = "group set",
         .words = "NAME",
         .summary = "Sets how much of a group may run at once or start in a time",
         .details = "What is over the limit waits; nothing fails by it. What is not named stays.\n",
         .word_count = 1,
         .options = std::move(set_options),
         .run = MakeApiCommand(process, SetGroup),
         .asks_server = true},
        {.path = "group delete",
         .words = "NAME",
         .summary = "Takes the limits of a group away; its jobs stay",
         .details = "",
         .word_count = 1,
         .options = {},
         .run = MakeApiCommand(process, DeleteGroup),
         .asks_server = true},
        {.path = "group pause",
         .words = "NAME",
         .summary = "Pauses every job of a group",
         .details = "Exit code 1: some could not be; they are named.\n",
         .word_count = 1,
         .options = {{"reason", 'r', "TEXT", "why, for those who wonder later", ""}},
         .run = MakeApiCommand(process,
                               [](ApiSession& session) { return PauseOrResume(session, "pause"); }),
         .asks_server = true},
        {.path = "group resume",
         .words = "NAME",
         .summary = "Lets every job of a group go on",
         .details = "Exit code 1: some could not; they are named.\n",
         .word_count = 1,
         .options = {},
         .run = MakeApiCommand(
             process, [](ApiSession& session) { return PauseOrResume(session, "resume"); }),
         .asks_server = true},
    };
}

}  // namespace ksana::app
