#include <fmt/core.h>

#include <array>

#include "apps/ksana/commands.hpp"
#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "ksana/client/api_list.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

std::string Names(const Json& list, std::string_view none) {
    std::string text;
    for (const Json& item : list.Items()) text += (text.empty() ? "" : ",") + item.Text();
    return text.empty() ? std::string(none) : text;
}

std::span<const Column> WorkerColumns() {
    static const std::array<Column, 7> columns = {{
        {.title = "NAME", .pointer = "/name"},
        {.title = "STATE", .pointer = "/state", .kind = Column::Kind::kState},
        {.title = "KINDS",
         .pointer = "",
         .make =
             [](const Json& worker, const Style&) {
                 return worker.At("/agent").True() ? std::string("agent")
                                                   : Names(worker.At("/kinds"), "");
             }},
        {.title = "TYPES",
         .pointer = "",
         .make = [](const Json& worker,
                    const Style&) { return Names(worker.At("/types"), "all"); }},
        {.title = "BUSY",
         .pointer = "",
         .make =
             [](const Json& worker, const Style&) {
                 if (worker.At("/agent").True()) return std::string("-");
                 return fmt::format("{}/{}", worker.TextAt("/busy"), worker.TextAt("/slots"));
             }},
        {.title = "HOST", .pointer = "/host"},
        {.title = "HEARD", .pointer = "/last_heartbeat_at", .kind = Column::Kind::kTime},
    }};
    return columns;
}

Result<int> ListWorkers(ApiSession& session) {
    KSANA_TRY(const std::size_t most, ListLimitOf(session.arguments));
    client::Query query;
    const std::string& state = session.arguments.Get("state");
    if (!state.empty()) query.emplace_back("state", state);
    KSANA_TRY(const auto list, client::ListAll(session.api, ApiPath({"workers"}), query, most));
    ShowList(session, {.noun = "workers", .name_pointer = "/name", .columns = WorkerColumns()},
             list);
    return kExitOk;
}

Result<int> ShowWorker(ApiSession& session) {
    KSANA_TRY(const auto answer, session.api.Get(ApiPath({"workers", session.Word(0)})));
    ShowOne(session, answer.json, "/name");
    return kExitOk;
}

Result<int> DrainWorker(ApiSession& session) {
    KSANA_TRY(const auto answer,
              session.api.Post(ApiPath({"workers", session.Word(0), "drain"}), Json::Object()));
    ShowOne(session, answer.json, "/name");
    return kExitOk;
}

std::vector<OptionSpec> WorkerListOptions() {
    std::vector<OptionSpec> options = ListOptions();
    options.push_back(
        {"state", '\0', "STATE", "only these", "", {"alive", "draining", "down", "gone"}});
    return options;
}

}  // namespace

std::vector<Command> WorkerCommands(const Process& process) {
    return {
        {.path = "worker list",
         .words = "",
         .summary = "Lists the workers and agents that serve, or did so today",
         .details = "",
         .options = WorkerListOptions(),
         .run = MakeApiCommand(process, ListWorkers),
         .asks_server = true},
        {.path = "worker show",
         .words = "NAME",
         .summary = "Shows a worker and what it works on",
         .details = "",
         .word_count = 1,
         .options = {},
         .run = MakeApiCommand(process, ShowWorker),
         .asks_server = true},
        {.path = "worker drain",
         .words = "NAME",
         .summary = "Gives a worker no more runs; it finishes what it has, and leaves",
         .details = "",
         .word_count = 1,
         .options = {},
         .run = MakeApiCommand(process, DrainWorker),
         .asks_server = true},
    };
}

}  // namespace ksana::app
