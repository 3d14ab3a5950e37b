#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include <array>

#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/live_screen.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::app {
namespace {

using codec::Json;

// Returns "-" if the type has no such name.
std::string NameOf(const Json& item, std::string_view pointer) {
    const std::string name = item.TextAt(pointer);
    return name.empty() ? "-" : Printable(name);
}

constexpr std::size_t kShared = 8;  // columns shared by the tables of types and categories

std::array<Column, kShared> DepthColumns() {
    return {{
        {.title = "QUEUED", .pointer = "/queued"},
        {.title = "OLDEST", .pointer = "/oldest_queued_for"},
        {.title = "RUNNING", .pointer = "/running"},
        {.title = "SCHEDULED", .pointer = "/scheduled"},
        {.title = "HELD", .pointer = "/held"},
        {.title = "IN/S", .pointer = "/submitted_per_second"},
        {.title = "OUT/S", .pointer = "/finished_per_second"},
        {.title = "FAILED/S", .pointer = "/failed_per_second"},
    }};
}

Column NameColumn(std::string_view title, std::string_view pointer) {
    return {.title = title, .pointer = "", .make = [pointer](const Json& item, const Style&) {
                return NameOf(item, pointer);
            }};
}

std::span<const Column> TypeColumns() {
    static const std::vector<Column> columns = [] {
        std::vector<Column> all = {NameColumn("TYPE", "/type"),
                                   NameColumn("CATEGORY", "/category"),
                                   {.title = "KIND", .pointer = "/kind", .wide = true}};
        for (Column& column : DepthColumns()) all.push_back(std::move(column));
        return all;
    }();
    return columns;
}

std::span<const Column> CategoryColumns() {
    static const std::vector<Column> columns = [] {
        std::vector<Column> all = {NameColumn("CATEGORY", "/category")};
        for (Column& column : DepthColumns()) all.push_back(std::move(column));
        return all;
    }();
    return columns;
}

Result<Json> AskQueues(const ApiSession& session) {
    client::Query query;
    for (const char* name : {"type", "category"}) {
        if (session.arguments.Has(name)) query.emplace_back(name, session.arguments.Get(name));
    }
    KSANA_TRY(const auto answer, session.api.Get(client::ApiPath({"queues"}), query));
    return answer.json;
}

bool ByCategory(const ApiSession& session) { return session.arguments.Has("by-category"); }

std::vector<Json> ItemsOf(const ApiSession& session, const Json& queues) {
    return queues.At(ByCategory(session) ? "/categories" : "/items").Items();
}

ItemView ViewOf(const ApiSession& session) {
    if (ByCategory(session)) {
        return {.noun = "queues", .name_pointer = "/category", .columns = CategoryColumns()};
    }
    return {.noun = "queues", .name_pointer = "/type", .columns = TypeColumns()};
}

std::vector<std::string> Picture(const ApiSession& session, const Json& queues, TerminalSize size) {
    const std::vector<Json> items = ItemsOf(session, queues);
    return WithTable(
        fmt::format("{} queues at {}", items.size(), session.style.Time(queues.TextAt("/at"))),
        TableOf(ViewOf(session).columns, items, session.style), session.style, size);
}

Result<int> Queue(ApiSession& session) {
    const bool watch = session.arguments.Has("watch");
    KSANA_TRY(const Duration pause, IntervalOf(session.arguments));
    if (watch) KSANA_TRY_VOID(NeedTerminal(session, "it without --watch"));
    KSANA_TRY(Json now, AskQueues(session));
    if (!watch) {
        ShowItems(session, ViewOf(session), ItemsOf(session, now), now);
        return kExitOk;
    }
    return RunLive(session,
                   {.ask = [&]() -> Result<void> {
                        KSANA_TRY(now, AskQueues(session));
                        return {};
                    },
                    .picture = [&](TerminalSize size) { return Picture(session, now, size); },
                    .pause = pause});
}

}  // namespace

Command QueueCommand(const Process& process) {
    return {.path = "queue",
            .words = "",
            .summary = "Shows how much waits, for how long, and how fast it goes",
            .details =
                "OLDEST is how long the first could have been taken; rates are of the last\n"
                "minute, or of the newest thousand runs where there were more.\n",
            .options = {{"type", '\0', "CODE", "only this type", ""},
                        {"category", '\0', "NAME", "only types of this category", ""},
                        {"by-category", '\0', "", "the sums by category", ""},
                        {"watch", 'w', "", "live, on a terminal; q ends it", ""},
                        IntervalOption()},
            .run = MakeApiCommand(process, Queue, Signals::kWaitable),
            .asks_server = true};
}

}  // namespace ksana::app
