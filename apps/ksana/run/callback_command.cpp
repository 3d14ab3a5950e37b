#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include <array>

#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "ksana/client/api_list.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

std::span<const Column> CallbackColumns() {
    using Kind = Column::Kind;
    static const std::array<Column, 11> columns = {{
        {.title = "ID", .pointer = "/id"},
        {.title = "RUN", .pointer = "/run_id", .wide = true},
        {.title = "TYPE", .pointer = "/type"},
        {.title = "STATE", .pointer = "/state", .kind = Kind::kState},
        {.title = "EVENT", .pointer = "/event"},
        {.title = "URL", .pointer = "/url"},
        {.title = "TRIED", .pointer = "/attempts"},
        {.title = "LAST", .pointer = "/last_attempt_at", .kind = Kind::kTime},
        {.title = "NEXT", .pointer = "/next_attempt_at", .kind = Kind::kTime, .wide = true},
        {.title = "MADE", .pointer = "/created_at", .kind = Kind::kTime, .wide = true},
        {.title = "ERROR", .pointer = "/last_error"},
    }};
    return columns;
}

Result<int> ListCallbacks(ApiSession& session) {
    const Arguments& arguments = session.arguments;
    KSANA_TRY(const std::size_t most, ListLimitOf(arguments));
    client::Query query;
    for (const std::string& state : arguments.All("state")) query.emplace_back("state", state);
    for (const char* name : {"parent", "type", "tenant"}) {
        if (arguments.Has(name)) query.emplace_back(name, arguments.Get(name));
    }
    KSANA_TRY(const auto list, client::ListAll(session.api, ApiPath({"callbacks"}), query, most));
    ShowList(session, {.noun = "callbacks", .columns = CallbackColumns()}, list);
    return kExitOk;
}

// One request redelivers a bounded number; repeats it until none is left.
Result<int> RedeliverMany(ApiSession& session) {
    Json body = Json::Object().With("/state", Json::Of("failed"));
    for (const char* name : {"type", "tenant"}) {
        if (!session.arguments.Has(name)) continue;
        body = body.With(fmt::format("/{}", name), Json::Of(session.arguments.Get(name)));
    }
    std::int64_t count = 0;
    for (bool more = true; more;) {
        KSANA_TRY(const auto answer, session.api.Post(ApiPath({"callbacks", "redeliver"}), body));
        count += answer.json.At("/redelivered").Int().value_or(0);
        more = answer.json.At("/more").True();
    }
    if (count == 0) {
        session.Note("There are no such dead letters.");
    } else {
        session.output.out +=
            fmt::format("{} {} sent again\n", count, count == 1 ? "callback is" : "callbacks are");
    }
    return kExitOk;
}

Result<int> Redeliver(ApiSession& session) {
    const Arguments& arguments = session.arguments;
    const bool by_filter = arguments.Has("type") || arguments.Has("tenant") || arguments.Has("all");
    if (by_filter == !arguments.words().empty()) {
        return Error(Code::kInvalidArgument,
                     by_filter ? "an ID and a filter cannot both be given"
                               : "say which: an ID, --type CODE, --tenant NAME, or --all");
    }
    if (by_filter) return RedeliverMany(session);
    KSANA_TRY(const auto answer,
              session.api.Post(ApiPath({"callbacks", session.Word(0), "redeliver"})));
    ShowChange(session, answer.json,
               fmt::format("callback {} is sent again", answer.json.TextAt("/id")));
    return kExitOk;
}

std::vector<OptionSpec> CallbackListOptions() {
    std::vector<OptionSpec> options = {
        {"state",
         's',
         "STATE",
         "callbacks in this state (more than once: in any of them)",
         "",
         {"pending", "delivered", "failed", "given_up"},
         true},
        {"parent", '\0', "ID", "callbacks about this run", ""},
        {"type", '\0', "CODE", "callbacks about runs of this type", ""},
        {"tenant", '\0', "NAME", "callbacks about runs of this tenant", ""}};
    for (OptionSpec& option : ListOptions()) options.push_back(std::move(option));
    return options;
}

}  // namespace

std::vector<Command> CallbackCommands(const Process& process) {
    return {
        {.path = "callback list",
         .words = "",
         .summary = "Lists callbacks, the newest first",
         .details = "The dead letters, which wait for somebody to send them again:\n"
                    "  ksana callback list --state failed\n",
         .options = CallbackListOptions(),
         .run = MakeApiCommand(process, ListCallbacks),
         .asks_server = true},
        {.path = "callback redeliver",
         .words = "[ID]",
         .summary = "Sends a callback again that did not get through, or all that a filter chooses",
         .details =
             "Under its id, which its receiver knows it by, and with all its retries anew.\n",
         .options = {{"type", '\0', "CODE", "dead letters about runs of this type", ""},
                     {"tenant", '\0', "NAME", "dead letters about runs of this tenant", ""},
                     {"all", '\0', "", "every dead letter there is", ""}},
         .run = MakeApiCommand(process, Redeliver),
         .optional_words = 1,
         .asks_server = true},
    };
}

}  // namespace ksana::app
