#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include <array>

#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/live_screen.hpp"
#include "apps/ksana/toolkit/session.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

std::span<const Column> NodeColumns() {
    using Kind = Column::Kind;
    static const std::array<Column, 9> columns = {{
        {.title = "NAME", .pointer = "/name"},
        {.title = "STATE", .pointer = "/state", .kind = Kind::kState},
        {.title = "ADDRESS", .pointer = "/address"},
        {.title = "VERSION", .pointer = "/version"},
        {.title = "BUSY", .pointer = "/busy"},
        {.title = "SLOTS", .pointer = "/slots"},
        {.title = "STARTED", .pointer = "/started_at", .kind = Kind::kTime},
        {.title = "HEARTBEAT", .pointer = "/heartbeat_at", .kind = Kind::kTime},
        {.title = "INCARNATION", .pointer = "/incarnation", .wide = true},
    }};
    return columns;
}

constexpr std::string_view kNoun = "nodes";

Result<Json> AskNodes(ApiSession& session) {
    KSANA_TRY(auto answer, session.api.Get(ApiPath({"nodes"})));
    return std::move(answer.json);
}

std::vector<Json> ItemsOf(const ApiSession& session, const Json& nodes) {
    const std::string& state = session.arguments.Get("state");
    std::vector<Json> items;
    for (const Json& item : nodes.At("/items").Items()) {
        if (state.empty() || item.TextAt("/state") == state) items.push_back(item);
    }
    return items;
}

std::vector<std::string> Picture(const ApiSession& session, const Json& nodes, TerminalSize size) {
    const std::vector<Json> items = ItemsOf(session, nodes);
    return WithTable(fmt::format("{} {}", items.size(), kNoun),
                     TableOf(NodeColumns(), items, session.style), session.style, size);
}

Result<int> ListNodes(ApiSession& session) {
    const bool watch = session.arguments.Has("watch");
    KSANA_TRY(const Duration pause, IntervalOf(session.arguments));
    if (watch) KSANA_TRY_VOID(NeedTerminal(session, "it without --watch"));
    KSANA_TRY(Json now, AskNodes(session));
    if (!watch) {
        const std::vector<Json> items = ItemsOf(session, now);
        ShowItems(session, {.noun = kNoun, .name_pointer = "/name", .columns = NodeColumns()},
                  items, now.With("/items", Json::Array(items)));
        return kExitOk;
    }
    return RunLive(session,
                   {.ask = [&]() -> Result<void> {
                        KSANA_TRY(now, AskNodes(session));
                        return {};
                    },
                    .picture = [&](TerminalSize size) { return Picture(session, now, size); },
                    .pause = pause});
}

}  // namespace

Command NodeCommand(const Process& process) {
    return {.path = "node list",
            .words = "",
            .summary = "Lists the servers that share the store",
            .details = "Servers that have stopped or died are shown for a day.\n",
            .options =
                {{"state", '\0', "STATE", "only these", "", {"alive", "stopping", "down", "gone"}},
                 {"watch", 'w', "", "live, on a terminal; q ends it", ""},
                 IntervalOption()},
            .run = MakeApiCommand(process, ListNodes, Signals::kWaitable),
            .asks_server = true};
}

}  // namespace ksana::app
