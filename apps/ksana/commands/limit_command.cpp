#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include <array>

#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/rate_option.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

// "3 on 2 nodes": what is in use on all nodes that use the limit. Empty if it is not shared.
std::string ClusterText(const Json& cluster) {
    if (!cluster.IsObject()) return {};
    return fmt::format("{} on {} nodes", cluster.TextAt("/in_use"), cluster.TextAt("/nodes"));
}

std::span<const Column> LimitColumns() {
    static const std::array<Column, 9> columns = {{
        {.title = "KIND", .pointer = "/kind"},
        {.title = "NAME", .pointer = "/name"},
        {.title = "IN USE", .pointer = "/in_use"},
        {.title = "MOST AT ONCE", .pointer = "/max_concurrency"},
        {.title = "RATE",
         .pointer = "",
         .make = [](const Json& limit, const Style&) { return RateText(limit.At("/rate")); }},
        {.title = "WAITING", .pointer = "/waiting"},
        {.title = "CLUSTER",
         .pointer = "",
         .make = [](const Json& limit, const Style&) { return ClusterText(limit.At("/cluster")); }},
        {.title = "BREAKER", .pointer = "/breaker/state", .kind = Column::Kind::kState},
        {.title = "TRIES AGAIN", .pointer = "/breaker/retry_at", .kind = Column::Kind::kTime},
    }};
    return columns;
}

Result<int> ListLimits(ApiSession& session) {
    KSANA_TRY(const auto answer, session.api.Get(ApiPath({"limits"})));
    const std::string& kind = session.arguments.Get("kind");
    std::vector<Json> items;
    for (const Json& item : answer.json.At("/items").Items()) {
        if (kind.empty() || item.TextAt("/kind") == kind) items.push_back(item);
    }
    const Json whole = kind.empty() ? answer.json : answer.json.With("/items", Json::Array(items));
    ShowItems(session, {.noun = "limits", .name_pointer = "/name", .columns = LimitColumns()},
              items, whole);
    return kExitOk;
}

// Parses "type CODE" or "host NAME[:PORT]" and returns the path of the limit.
Result<std::string> PathOf(const ApiSession& session) {
    const std::string& kind = session.Word(0);
    if (kind == "group") {
        return Error(Code::kInvalidArgument, "limits of groups are set by `ksana group set`");
    }
    if (kind == "node") {
        return Error(Code::kInvalidArgument,
                     "the limits of a node are settings of its server: see `ksana config show`");
    }
    if (kind != "type" && kind != "host") {
        return Error(Code::kInvalidArgument,
                     fmt::format("\"{}\" has no limits; write type CODE or host NAME",
                                 Printable(Excerpt(kind, 80))));
    }
    return ApiPath({"limits", kind, session.Word(1)});
}

Result<int> SetLimit(ApiSession& session) {
    KSANA_TRY(std::string path, PathOf(session));
    const Arguments& arguments = session.arguments;
    if (!arguments.Has("max-concurrency") && !arguments.Has("rate")) {
        return Error(Code::kInvalidArgument, "say what to set: --max-concurrency or --rate");
    }
    // Replaces the stored limit as a whole: a member that is not given is removed.
    KSANA_TRY(const Json body, WithLimits(Json(), arguments));
    KSANA_TRY(const auto answer, session.api.Put(std::move(path), body));
    ShowOne(session, answer.json, "/name");
    return kExitOk;
}

Result<int> DeleteLimit(ApiSession& session) {
    KSANA_TRY(std::string path, PathOf(session));
    const std::string shown =
        fmt::format("{} {}", Printable(session.Word(0)), Printable(session.Word(1)));
    KSANA_TRY(const bool agreed, Confirm(session, fmt::format("Delete the limit of {}?", shown)));
    if (!agreed) return kExitFailed;
    KSANA_TRY_VOID(session.api.Delete(std::move(path)));
    if (session.style.IsTable()) session.output.out += fmt::format("limit of {} deleted\n", shown);
    return kExitOk;
}

Result<int> ResetBreaker(ApiSession& session) {
    const std::string& host = session.Word(0);
    KSANA_TRY(const auto answer,
              session.api.Post(ApiPath({"limits", "host", host, "reset-breaker"}), Json()));
    if (!session.style.IsTable()) {
        ShowOne(session, answer.json, "/host");
        return kExitOk;
    }
    session.output.out += fmt::format("breakers of {} reset\n", Printable(host));
    for (const Json& name : answer.json.At("/open").Items()) {
        session.output.out += fmt::format("  {} was not closed\n", Printable(name.Text()));
    }
    return kExitOk;
}

}  // namespace

std::vector<Command> LimitCommands(const Process& process) {
    return {
        {.path = "limit list",
         .words = "",
         .summary = "Lists every limit, its use now, and what is known to be down",
         .details = "A breaker that is open keeps calls back from a host that does not answer.\n",
         .options = {{"kind", '\0', "KIND", "only these", "", {"node", "group", "type", "host"}}},
         .run = MakeApiCommand(process, ListLimits),
         .asks_server = true},
        {.path = "limit set",
         .words = "type|host NAME",
         .summary = "Sets the limit of a type of runs, or of a host that jobs call",
         .details = "  ksana limit set host api.example.com --max-concurrency 5 --rate 100/1m\n"
                    "  ksana limit set type mail --rate 10/1s\n",
         .word_count = 2,
         .options = LimitOptions(),
         .run = MakeApiCommand(process, SetLimit),
         .asks_server = true},
        {.path = "limit delete",
         .words = "type|host NAME",
         .summary = "Takes the limit of a type or a host away",
         .details = "",
         .word_count = 2,
         .options = {},
         .run = MakeApiCommand(process, DeleteLimit),
         .asks_server = true},
        {.path = "limit reset-breaker",
         .words = "HOST",
         .summary = "Lets calls to a host and all its paths go out again",
         .details = "On all servers. `ksana limit list` names what is held back.\n"
                    "  ksana limit reset-breaker api.example.com:443\n",
         .word_count = 1,
         .options = {},
         .run = MakeApiCommand(process, ResetBreaker),
         .asks_server = true},
    };
}

}  // namespace ksana::app
