#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include <array>

#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "apps/ksana/toolkit/text_file.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/client/api_list.hpp"
#include "ksana/codec/v1/definitions.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

std::string CountText(const Json& item, std::string_view pointer) {
    return std::to_string(item.At(pointer).Items().size());
}

std::span<const Column> CalendarColumns() {
    static const std::array<Column, 6> columns = {{
        {.title = "NAME", .pointer = "/name"},
        {.title = "EXCLUDES",
         .pointer = "",
         .make = [](const Json& item, const Style&) { return CountText(item, "/exclude"); }},
        {.title = "INCLUDES",
         .pointer = "",
         .make = [](const Json& item, const Style&) { return CountText(item, "/include"); }},
        {.title = "SWAPS",
         .pointer = "",
         .make = [](const Json& item, const Style&) { return CountText(item, "/swaps"); }},
        {.title = "UPDATED", .pointer = "/updated_at", .kind = Column::Kind::kTime},
        {.title = "DESCRIPTION", .pointer = "/description"},
    }};
    return columns;
}

Result<int> ListCalendars(ApiSession& session) {
    KSANA_TRY(const std::size_t most, ListLimitOf(session.arguments));
    client::Query query;
    if (session.arguments.Has("prefix")) {
        query.emplace_back("prefix", session.arguments.Get("prefix"));
    }
    KSANA_TRY(const auto list, client::ListAll(session.api, ApiPath({"calendars"}), query, most));
    ShowList(session, {.noun = "calendars", .name_pointer = "/name", .columns = CalendarColumns()},
             list);
    return kExitOk;
}

Result<int> GetCalendar(ApiSession& session) {
    KSANA_TRY(const auto answer, session.api.Get(ApiPath({"calendars", session.Word(0)})));
    ShowOne(session, answer.json, "/name");
    return kExitOk;
}

// Removes the members that the server keeps beside the definition, as the file may be a copy of its
// answer.
Json DefinitionPartOf(Json calendar) {
    for (const std::string_view member : {"/version", "/updated_at"}) {
        calendar = calendar.Without(member);
    }
    return calendar;
}

Result<Json> CalendarOfFile(const ApiSession& session) {
    const std::string& path = session.arguments.Get("file");
    if (path.empty()) {
        return Error(Code::kInvalidArgument, "-f FILE is missing: a file of one calendar, or -");
    }
    KSANA_TRY(const Json read, ReadDataFile(path, session.process));
    if (!read.IsObject()) {
        return Error(Code::kInvalidArgument, fmt::format("{} is no calendar", Printable(path)));
    }
    Json calendar = DefinitionPartOf(read);
    const std::string name = calendar.TextAt("/name");
    const auto& words = session.arguments.words();
    if (words.empty() && name.empty()) {
        return Error(Code::kInvalidArgument, "a NAME is missing, here or in the file");
    }
    if (!words.empty() && !name.empty() && words[0] != name) {
        return Error(Code::kInvalidArgument,
                     fmt::format("the file is of calendar {}, not of {}",
                                 Printable(Excerpt(name, 80)), Printable(Excerpt(words[0], 80))));
    }
    if (name.empty()) calendar = calendar.With("/name", Json::Of(words[0]));
    // Reports problems before anything is sent.
    auto parsed = codec::CalendarFromJson(calendar.Compact());
    if (!parsed) return std::move(parsed).error().WithContext(Printable(path));
    if (auto faults = schedule::ValidateCalendar(*parsed); !faults.empty()) {
        return Error(std::move(faults)).WithContext(Printable(path));
    }
    return calendar;
}

// Returns the entity tag of the stored calendar; "" if there is none.
Result<std::string> TagOf(ApiSession& session, const std::string& path) {
    auto there = session.api.Get(path);
    if (there) return there->HeaderValue("ETag");
    if (there.error().code == Code::kNotFound) return std::string();
    return std::move(there).error();
}

Result<int> ApplyCalendar(ApiSession& session) {
    KSANA_TRY(const Json calendar, CalendarOfFile(session));
    const std::string name = calendar.TextAt("/name");
    const std::string path = ApiPath({"calendars", name});
    KSANA_TRY(const std::string tag, TagOf(session, path));
    KSANA_TRY(const auto answer,
              session.api.Put(path, calendar.Without("/name"),
                              tag.empty() ? std::string(client::ApiClient::kMustBeNew) : tag));
    if (!session.style.IsTable()) {
        ShowOne(session, answer.json, "/name");
        return kExitOk;
    }
    session.output.out +=
        fmt::format("calendar {} {}\n", Printable(name), answer.status == 201 ? "made" : "changed");
    return kExitOk;
}

Result<int> ImportCalendar(ApiSession& session) {
    const Arguments& arguments = session.arguments;
    const std::string& path = arguments.Get("file");
    if (path.empty()) return Error(Code::kInvalidArgument, "-f FILE is missing");
    std::string format = arguments.Get("format");
    if (format.empty()) {
        if (!path.ends_with(".ics") && !path.ends_with(".csv")) {
            return Error(Code::kInvalidArgument,
                         "--format ics or csv is missing: the file's name does not tell");
        }
        format = path.substr(path.size() - 3);
    }
    KSANA_TRY(const std::string text, ReadTextFile(path, session.process));
    if (!IsUtf8(text)) {
        return Error(Code::kInvalidArgument, fmt::format("{} is no UTF-8", Printable(path)));
    }
    const Json body = Json()
                          .With("/format", Json::Of(format))
                          .With("/text", Json::Of(text))
                          .With("/list", Json::Of(arguments.Get("list")))
                          .With("/mode", Json::Of(arguments.Get("mode")))
                          .With("/dry_run", Json::Of(arguments.Has("dry-run")));
    KSANA_TRY(const auto answer,
              session.api.Post(ApiPath({"calendars", session.Word(0), "import"}), body));
    if (!session.style.IsTable()) {
        ShowOne(session, answer.json, "/calendar/name");
        return kExitOk;
    }
    const bool stored = answer.json.At("/stored").True();
    session.output.out +=
        fmt::format("calendar {}: {} added, {} removed{}\n", Printable(session.Word(0)),
                    answer.json.TextAt("/added"), answer.json.TextAt("/removed"),
                    stored ? "" : " (dry run: nothing stored)");
    for (const Json& skipped : answer.json.At("/skipped").Items()) {
        session.output.err += fmt::format("line {}: skipped: {}\n", skipped.TextAt("/line"),
                                          Printable(skipped.TextAt("/reason")));
    }
    return kExitOk;
}

Result<int> PreviewCalendar(ApiSession& session) {
    const Arguments& arguments = session.arguments;
    KSANA_TRY(const int days, arguments.GetNumber("days", 1, 400));
    Json calendar;
    if (arguments.Has("file")) {
        KSANA_TRY(calendar, CalendarOfFile(session));
    } else if (arguments.words().empty()) {
        return Error(Code::kInvalidArgument, "NAME or -f FILE is missing");
    } else {
        KSANA_TRY(const auto there, session.api.Get(ApiPath({"calendars", session.Word(0)})));
        calendar = DefinitionPartOf(there.json);
    }
    Json body = Json().With("/calendar", calendar).With("/days", Json::Of(std::int64_t{days}));
    if (arguments.Has("from")) body = body.With("/from", Json::Of(arguments.Get("from")));
    std::vector<Json> jobs;
    for (const std::string& id : arguments.All("job")) jobs.push_back(Json::Of(id));
    if (!jobs.empty()) body = body.With("/jobs", Json::Array(jobs));
    KSANA_TRY(const auto answer, session.api.Post(ApiPath({"calendars", "preview"}), body));
    if (!session.style.IsTable()) {
        ShowOne(session, answer.json, "/from");
        return kExitOk;
    }
    const std::vector<Json> days_off = answer.json.At("/days_off").Items();
    session.output.out +=
        fmt::format("{} to {}: {} days off\n\n", session.style.Time(answer.json.TextAt("/from")),
                    session.style.Time(answer.json.TextAt("/to")), days_off.size());
    static const std::array<Column, 5> columns = {{
        {.title = "JOB", .pointer = "/id"},
        {.title = "FIRES", .pointer = "/fires"},
        {.title = "TAKEN AWAY", .pointer = "/taken_away"},
        {.title = "ADDED", .pointer = "/added"},
        {.title = "FIRST TAKEN AWAY",
         .pointer = "/first_taken_away/0",
         .kind = Column::Kind::kTime},
    }};
    ShowItems(session, {.noun = "jobs that use it", .columns = columns},
              answer.json.At("/jobs").Items(), answer.json);
    return kExitOk;
}

Result<int> DeleteCalendar(ApiSession& session) {
    const std::string path = ApiPath({"calendars", session.Word(0)});
    KSANA_TRY(const auto there, session.api.Get(path));
    KSANA_TRY(const bool agreed,
              Confirm(session, fmt::format("Delete calendar {}?", Printable(session.Word(0)))));
    if (!agreed) return kExitFailed;
    KSANA_TRY_VOID(session.api.Delete(path, there.HeaderValue("ETag")));
    if (session.style.IsTable()) {
        session.output.out += fmt::format("calendar {} deleted\n", Printable(session.Word(0)));
    }
    return kExitOk;
}

constexpr std::string_view kImportDetails =
    "Takes the days of an iCalendar file (whole-day events) or of a CSV (a date in\n"
    "the first column) as rules. Lines that cannot be used are named and passed over.\n";
constexpr std::string_view kCalendarFileDetails =
    "FILE is TOML or JSON, one calendar:\n"
    "  name = \"holidays\"\n"
    "  exclude = [{ yearly = \"12-25\" }, { weekdays = [\"SAT\", \"SUN\"] }]\n"
    "See docs/schedules.md for the rules. `ksana calendar preview -f FILE` shows\n"
    "before what it would do to the jobs that use it.\n";
constexpr std::string_view kPreviewDetails =
    "The days off, and what would change for the jobs that use the calendar (or for\n"
    "those named) if it were saved as the file has it: fires taken away and added.\n";

OptionSpec FileOption() { return {"file", 'f', "FILE", "the file; - is standard input", ""}; }

Command ImportCommandOf(const Process& process) {
    return {.path = "calendar import",
            .words = "NAME",
            .summary = "Takes days from an iCalendar or CSV file",
            .details = kImportDetails,
            .word_count = 1,
            .options = {FileOption(),
                        {"format", '\0', "FORMAT", "if the name does not tell", "", {"ics", "csv"}},
                        {"list", '\0', "LIST", "where they go", "exclude", {"exclude", "include"}},
                        {"mode",
                         '\0',
                         "MODE",
                         "beside the rules that are there, or in their place",
                         "merge",
                         {"merge", "replace"}},
                        {"dry-run", '\0', "", "show what would change, store nothing", ""}},
            .run = MakeApiCommand(process, ImportCalendar),
            .asks_server = true};
}

Command PreviewCommandOf(const Process& process) {
    return {.path = "calendar preview",
            .words = "[NAME]",
            .summary = "Shows what a calendar does to the jobs that use it",
            .details = kPreviewDetails,
            .options = {FileOption(),
                        {"from", '\0', "TIME", "from when on (default: now)", ""},
                        {"days", '\0', "N", "for how many days", "90"},
                        {.name = "job",
                         .value_name = "JOB",
                         .help = "this job, more than once (default: all that use it)",
                         .default_value = "",
                         .repeated = true}},
            .run = MakeApiCommand(process, PreviewCalendar),
            .optional_words = 1,
            .asks_server = true};
}

}  // namespace

std::vector<Command> CalendarCommands(const Process& process) {
    std::vector<OptionSpec> list_options = {
        {"prefix", '\0', "TEXT", "only those whose names begin so", ""}};
    for (OptionSpec& option : ListOptions()) list_options.push_back(std::move(option));
    return {
        {.path = "calendar list",
         .words = "",
         .summary = "Lists calendars",
         .details = "",
         .options = std::move(list_options),
         .run = MakeApiCommand(process, ListCalendars),
         .asks_server = true},
        {.path = "calendar get",
         .words = "NAME",
         .summary = "Shows one calendar",
         .details = "",
         .word_count = 1,
         .options = {},
         .run = MakeApiCommand(process, GetCalendar),
         .asks_server = true},
        {.path = "calendar apply",
         .words = "[NAME]",
         .summary = "Makes or changes a calendar as a file says",
         .details = kCalendarFileDetails,
         .options = {FileOption()},
         .run = MakeApiCommand(process, ApplyCalendar),
         .optional_words = 1,
         .asks_server = true},
        ImportCommandOf(process),
        PreviewCommandOf(process),
        {.path = "calendar delete",
         .words = "NAME",
         .summary = "Deletes a calendar that no job uses",
         .details = "Exit code 5: jobs use it; they are named.\n",
         .word_count = 1,
         .options = {},
         .run = MakeApiCommand(process, DeleteCalendar),
         .asks_server = true},
    };
}

}  // namespace ksana::app
