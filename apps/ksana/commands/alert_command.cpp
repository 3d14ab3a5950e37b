#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include <array>

#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "apps/ksana/toolkit/text_file.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/client/api_list.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

// Formats a scope: "job=nightly tenant=acme", or "everything".
std::string ScopeText(const Json& alert, const Style&) {
    std::string text;
    for (const auto& [name, value] : alert.At("/scope").Members()) {
        if (!text.empty()) text += ' ';
        text += fmt::format("{}={}", name, value.IsText() ? value.Text() : value.Compact());
    }
    return text.empty() ? "everything" : Printable(text);
}

std::string ChannelText(const Json& alert, const Style&) {
    std::string text = alert.TextAt("/webhook/url");
    for (const Json& address : alert.At("/email").Items()) {
        if (!text.empty()) text += ' ';
        text += address.Text();
    }
    return Printable(text);
}

std::span<const Column> AlertColumns() {
    static const std::array<Column, 6> columns = {{
        {.title = "ID", .pointer = "/id"},
        {.title = "ON", .pointer = "/on"},
        {.title = "ENABLED", .pointer = "/enabled"},
        {.title = "SCOPE", .pointer = "", .make = ScopeText},
        {.title = "TELLS", .pointer = "", .make = ChannelText},
        {.title = "NAME", .pointer = "/name", .wide = true},
    }};
    return columns;
}

std::span<const Column> IncidentColumns() {
    using Kind = Column::Kind;
    static const std::array<Column, 8> columns = {{
        {.title = "RULE", .pointer = "/rule"},
        {.title = "ABOUT", .pointer = "/subject"},
        {.title = "STATE", .pointer = "/state", .kind = Kind::kState},
        {.title = "SEEN", .pointer = "/count"},
        {.title = "SINCE", .pointer = "/opened_at", .kind = Kind::kTime},
        {.title = "LAST", .pointer = "/last_at", .kind = Kind::kTime},
        {.title = "OVER", .pointer = "/closed_at", .kind = Kind::kTime, .wide = true},
        {.title = "MESSAGE", .pointer = "/message"},
    }};
    return columns;
}

Result<int> ListAlerts(ApiSession& session) {
    KSANA_TRY(const std::size_t most, ListLimitOf(session.arguments));
    KSANA_TRY(const auto list, client::ListAll(session.api, ApiPath({"alerts"}), {}, most));
    ShowList(session, {.noun = "alerts", .columns = AlertColumns()}, list);
    return kExitOk;
}

Result<int> GetAlert(ApiSession& session) {
    KSANA_TRY(const auto answer, session.api.Get(ApiPath({"alerts", session.Word(0)})));
    ShowOne(session, answer.json);
    return kExitOk;
}

// Removes the members that the server keeps beside the definition, as the file may be a copy of its
// answer.
Result<int> ApplyAlert(ApiSession& session) {
    const std::string& file = session.arguments.Get("file");
    if (file.empty()) {
        return Error(Code::kInvalidArgument, "-f FILE is missing: a file of one alert, or -");
    }
    KSANA_TRY(Json alert, ReadDataFile(file, session.process));
    if (!alert.IsObject()) {
        return Error(Code::kInvalidArgument, fmt::format("{} is no alert", Printable(file)));
    }
    const std::string id = alert.TextAt("/id");
    if (id.empty()) return Error(Code::kInvalidArgument, "the alert in the file has no id");
    for (const std::string_view member : {"/id", "/version", "/created_at", "/updated_at"}) {
        alert = alert.Without(member);
    }
    KSANA_TRY(const auto answer, session.api.Put(ApiPath({"alerts", id}), alert));
    ShowChange(
        session, answer.json,
        fmt::format("alert {} {}", Printable(id), answer.status == 201 ? "made" : "changed"));
    return kExitOk;
}

Result<int> DeleteAlert(ApiSession& session) {
    const std::string& id = session.Word(0);
    KSANA_TRY(const bool sure,
              Confirm(session, fmt::format("Delete the alert {}?", Printable(id))));
    if (!sure) return kExitFailed;
    KSANA_TRY_VOID(session.api.Delete(ApiPath({"alerts", id})));
    if (session.style.IsTable()) session.output.out += fmt::format("deleted {}\n", Printable(id));
    return kExitOk;
}

Result<int> TestAlert(ApiSession& session) {
    const std::string& id = session.Word(0);
    KSANA_TRY(const auto answer, session.api.Post(ApiPath({"alerts", id, "test"})));
    if (!session.style.IsTable()) {
        ShowOne(session, answer.json);
        return kExitOk;
    }
    for (const Json& one : answer.json.At("/callbacks").Items()) {
        session.output.out +=
            fmt::format("{} to {}\n", Printable(one.TextAt("/id")), Printable(one.TextAt("/url")));
    }
    session.Note("Whether they got there: ksana run get ID");
    return kExitOk;
}

Result<int> Incidents(ApiSession& session) {
    const Arguments& arguments = session.arguments;
    KSANA_TRY(const std::size_t most, ListLimitOf(arguments));
    client::Query query;
    for (const char* name : {"rule", "state"}) {
        if (arguments.Has(name)) query.emplace_back(name, arguments.Get(name));
    }
    KSANA_TRY(const auto list,
              client::ListAll(session.api, ApiPath({"alert-incidents"}), query, most));
    ShowList(session, {.noun = "incidents", .columns = IncidentColumns()}, list);
    return kExitOk;
}

std::vector<OptionSpec> IncidentOptions() {
    std::vector<OptionSpec> options = {
        {"rule", '\0', "ID", "what this alert has found", ""},
        {"state", 's', "STATE", "open or closed", "", {"open", "closed"}}};
    for (OptionSpec& option : ListOptions()) options.push_back(std::move(option));
    return options;
}

}  // namespace

std::vector<Command> AlertCommands(const Process& process) {
    const auto one = [&process](std::string_view path, std::string_view summary, ApiBody body) {
        return Command{.path = path,
                       .words = "ID",
                       .summary = summary,
                       .details = "",
                       .word_count = 1,
                       .options = {},
                       .run = MakeApiCommand(process, std::move(body)),
                       .asks_server = true};
    };
    const auto some = [&process](std::string_view path, std::string_view summary,
                                 std::string_view details, std::vector<OptionSpec> options,
                                 ApiBody body) {
        return Command{.path = path,
                       .words = "",
                       .summary = summary,
                       .details = details,
                       .options = std::move(options),
                       .run = MakeApiCommand(process, std::move(body)),
                       .asks_server = true};
    };
    return {
        some("alert list", "Lists alerts: who is told of what", "", ListOptions(), ListAlerts),
        one("alert get", "Shows one alert", GetAlert),
        some("alert apply", "Makes or replaces the alert of a file",
             "The file is JSON or TOML, as `ksana alert get ID -o json` prints it. A secret\n"
             "that is written as *** stays as it is.\n",
             {{"file", 'f', "FILE", "file of one alert; - is standard input", ""}}, ApplyAlert),
        one("alert delete", "Deletes an alert, and what it has found", DeleteAlert),
        one("alert test", "Sends a notice to whoever an alert tells", TestAlert),
        some("alert incidents", "Lists what alerts have found", "", IncidentOptions(), Incidents),
    };
}

}  // namespace ksana::app
