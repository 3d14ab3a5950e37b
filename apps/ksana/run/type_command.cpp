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

std::string CallbackText(const Json& item) {
    const bool success = item.Has("/callbacks/success");
    const bool error = item.Has("/callbacks/error");
    if (success && error) return "success, error";
    return success ? "success" : error ? "error" : "";
}

std::span<const Column> TypeListColumns() {
    static const std::array<Column, 8> columns = {{
        {.title = "CODE", .pointer = "/code"},
        {.title = "CATEGORY", .pointer = "/category"},
        {.title = "RETRY", .pointer = "/retry/strategy"},
        {.title = "RETRIES", .pointer = "/retry/max_retries"},
        {.title = "TIMEOUT", .pointer = "/timeout"},
        {.title = "MANUAL", .pointer = "/need_manual"},
        {.title = "CALLBACKS",
         .pointer = "",
         .make = [](const Json& item, const Style&) { return CallbackText(item); }},
        {.title = "NAME", .pointer = "/name"},
    }};
    return columns;
}

Result<int> ListTypes(ApiSession& session) {
    KSANA_TRY(const std::size_t most, ListLimitOf(session.arguments));
    client::Query query;
    if (session.arguments.Has("prefix")) {
        query.emplace_back("prefix", session.arguments.Get("prefix"));
    }
    KSANA_TRY(const auto list, client::ListAll(session.api, ApiPath({"types"}), query, most));
    ShowList(session, {.noun = "types", .name_pointer = "/code", .columns = TypeListColumns()},
             list);
    return kExitOk;
}

Result<int> GetType(ApiSession& session) {
    KSANA_TRY(const auto answer, session.api.Get(ApiPath({"types", session.Word(0)})));
    ShowOne(session, answer.json, "/code");
    return kExitOk;
}

// Adds the retry policy of the options to the type. Without any, the server's default applies.
Result<Json> RetryOf(const Arguments& arguments, Json type) {
    if (arguments.Has("retries")) {
        KSANA_TRY(const int retries, arguments.GetNumber("retries", 0, 1000));
        type = type.With("/retry/max_retries", Json::Of(std::int64_t{retries}));
        if (retries == 0) type = type.With("/retry/strategy", Json::Of("none"));
    }
    if (arguments.Has("retry-interval")) {
        type = type.With("/retry/strategy", Json::Of("fixed"))
                   .With("/retry/interval", Json::Of(arguments.Get("retry-interval")));
    }
    const std::vector<std::string> sequence = arguments.All("retry-after");
    if (sequence.empty()) return type;
    if (arguments.Has("retry-interval")) {
        return Error(Code::kInvalidArgument, "--retry-after does not go with --retry-interval");
    }
    std::vector<Json> steps;
    for (const std::string& step : sequence) steps.push_back(Json::Of(step));
    return type.With("/retry/strategy", Json::Of("sequence"))
        .With("/retry/sequence", Json::Array(steps));
}

Result<int> CreateType(ApiSession& session) {
    const Arguments& arguments = session.arguments;
    Json type = Json::Object().With("/code", Json::Of(session.Word(0)));
    for (const auto& [option, pointer] : {std::pair("name", "/name"),
                                          {"category", "/category"},
                                          {"run-timeout", "/timeout"},
                                          {"on-success", "/callbacks/success/url"},
                                          {"on-error", "/callbacks/error/url"}}) {
        if (arguments.Has(option)) type = type.With(pointer, Json::Of(arguments.Get(option)));
    }
    if (arguments.Has("need-manual")) type = type.With("/need_manual", Json::Of(true));
    KSANA_TRY(type, RetryOf(arguments, type));
    KSANA_TRY(const auto answer, session.api.Post(ApiPath({"types"}), type));
    ShowChange(session, answer.json, fmt::format("type {} made", Printable(session.Word(0))));
    return kExitOk;
}

Result<int> ApplyType(ApiSession& session) {
    const std::string& file = session.arguments.Get("file");
    if (file.empty()) {
        return Error(Code::kInvalidArgument, "-f FILE is missing: a file of one type, or -");
    }
    KSANA_TRY(const Json type, ReadDataFile(file, session.process));
    const std::string code = type.TextAt("/code");
    if (!type.IsObject() || code.empty()) {
        return Error(Code::kInvalidArgument,
                     fmt::format("{} is no type: it has no code", Printable(file)));
    }
    KSANA_TRY(const auto answer, session.api.Put(ApiPath({"types", code}), type));
    ShowChange(
        session, answer.json,
        fmt::format("type {} {}", Printable(code), answer.status == 201 ? "made" : "changed"));
    return kExitOk;
}

Result<int> DeleteType(ApiSession& session) {
    const std::string path = ApiPath({"types", session.Word(0)});
    KSANA_TRY(const auto there, session.api.Get(path));
    KSANA_TRY(const bool agreed,
              Confirm(session, fmt::format("Delete type {}?", Printable(session.Word(0)))));
    if (!agreed) return kExitFailed;
    KSANA_TRY_VOID(session.api.Delete(path, there.HeaderValue("ETag")));
    if (session.style.IsTable()) {
        session.output.out += fmt::format("type {} deleted\n", Printable(session.Word(0)));
    }
    return kExitOk;
}

constexpr std::string_view kTypeFileDetails =
    "FILE is TOML or JSON, one type:\n"
    "  code = \"transcode\"\n"
    "  category = \"media\"\n"
    "  timeout = \"30m\"\n"
    "  retry = { strategy = \"sequence\", max_retries = 3, sequence = [\"10s\", \"1m\"] }\n"
    "  callbacks = { success = { url = \"https://example.com/done\" } }\n"
    "See docs/tasks.md. A secret_key of \"***\" keeps the one that is there.\n";

std::vector<OptionSpec> CreateOptions() {
    return {
        {"name", '\0', "TEXT", "what people call it", ""},
        {"category", '\0', "NAME", "by which agents take several types at once", ""},
        {"run-timeout", '\0', "DURATION", "longest time of an attempt (default: the server's)", ""},
        {"retries", '\0', "N", "after a failure (default: the server's)", ""},
        {"retry-interval", '\0', "DURATION", "always so long between two attempts", ""},
        {.name = "retry-after",
         .value_name = "DURATION",
         .help = "so long before the next attempt; more than once: the last repeats",
         .default_value = "",
         .repeated = true},
        {"need-manual", '\0', "", "exhausted retries wait for a person", ""},
        {"on-success", '\0', "URL", "called when a run has succeeded", ""},
        {"on-error", '\0', "URL", "called when a run has failed for good", ""}};
}

}  // namespace

std::vector<Command> TypeCommands(const Process& process) {
    std::vector<OptionSpec> list_options = {
        {"prefix", '\0', "TEXT", "only those whose codes begin so", ""}};
    for (OptionSpec& option : ListOptions()) list_options.push_back(std::move(option));
    const auto one = [&process](std::string_view path, std::string_view summary,
                                std::vector<OptionSpec> options, ApiBody body) {
        return Command{.path = path,
                       .words = "TYPE",
                       .summary = summary,
                       .details = "",
                       .word_count = 1,
                       .options = std::move(options),
                       .run = MakeApiCommand(process, std::move(body)),
                       .asks_server = true};
    };
    return {
        {.path = "type list",
         .words = "",
         .summary = "Lists types of runs",
         .details = "",
         .options = std::move(list_options),
         .run = MakeApiCommand(process, ListTypes),
         .asks_server = true},
        one("type get", "Shows one type", {}, GetType),
        one("type create", "Makes a type", CreateOptions(), CreateType),
        {.path = "type apply",
         .words = "",
         .summary = "Makes or changes a type as a file says",
         .details = kTypeFileDetails,
         .options = {{"file", 'f', "FILE", "the file; - is standard input", ""}},
         .run = MakeApiCommand(process, ApplyType),
         .asks_server = true},
        one("type delete", "Deletes a type; its runs go on", {}, DeleteType),
    };
}

}  // namespace ksana::app
