#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/v1/definitions.hpp"
#include "ksana/model/job/policy.hpp"
#include "ksana/schedule/cron/cron_parse.hpp"
#include "ksana/schedule/describe.hpp"
#include "ksana/schedule/local_time.hpp"
#include "ksana/schedule/schedule.hpp"

namespace ksana::app {
namespace {

using schedule::CronDialect;
using schedule::DayMatch;
using schedule::Schedule;
using schedule::ScheduleSpec;

constexpr int kMaxCount = 100'000;
constexpr std::size_t kExplainedFires = 5;

// Formats the text, indented, with carets below the given range.
std::string PointAt(std::string_view text, std::size_t position, std::size_t length) {
    constexpr std::size_t kMaxShown = 100;
    if (text.empty() || text.size() > kMaxShown) return "";
    const std::string before = Printable(text.substr(0, position));
    const std::string marked = Printable(text.substr(position, length));
    const auto columns = [](std::string_view s) {  // characters, not bytes
        return std::count_if(s.begin(), s.end(), [](char c) {
            return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
        });
    };
    return fmt::format("  {}\n  {:>{}}{:^>{}}\n", Printable(text), "", columns(before), "",
                       std::max<std::ptrdiff_t>(columns(marked), 1));
}

Result<ScheduleSpec> SpecOf(const Arguments& arguments) {
    ScheduleSpec spec;
    spec.kind = schedule::ScheduleKind::kCron;
    spec.cron = arguments.words().at(0);
    spec.zone = arguments.Get("tz");
    spec.dialect = *model::FromName<CronDialect>(arguments.Get("dialect"));
    spec.dst.gap = *model::FromName<schedule::GapPolicy>(arguments.Get("gap"));
    spec.dst.fold = *model::FromName<schedule::FoldPolicy>(arguments.Get("fold"));
    const std::string& day_match = arguments.Get("day-match");
    if (!day_match.empty()) spec.day_match = *model::FromName<DayMatch>(day_match);
    if (spec.dialect == CronDialect::kLibrary) {
        if (day_match == "or") {
            return Error(Code::kInvalidArgument,
                         "--day-match: the library dialect always needs both days to match");
        }
        if (spec.zone != "UTC") {
            return Error(Code::kInvalidArgument, "--tz: the library dialect is always in UTC");
        }
    }
    return spec;
}

// A compiled expression and its start time. Without `schedule`, the error is printed already and
// `exit_code` is set.
struct Question {
    std::optional<Schedule> schedule;
    std::shared_ptr<const schedule::Zone> zone;
    schedule::CronSpec cron;
    TimePoint from;
    int exit_code = kExitOk;
};

Question Prepare(const Arguments& arguments, const Clock& clock, Output& output) {
    Question question;
    const auto fail = [&](const Error& error) {
        question.exit_code = Fail(error, output);
        return question;
    };
    const auto spec = SpecOf(arguments);
    if (!spec) return fail(spec.error());
    const auto parsed = schedule::ParseCronText(spec->cron, {spec->dialect, spec->day_match});
    if (parsed.fault.kind != schedule::CronFault::Kind::kNone) {
        fail({Code::kInvalidArgument,
              schedule::DescribeCronFault(spec->cron, parsed.fault, spec->dialect)});
        output.err += PointAt(spec->cron, parsed.fault.position, parsed.fault.length);
        return question;
    }
    question.cron = parsed.spec;
    schedule::ZoneDatabase zones;
    auto zone = zones.Find(spec->zone);
    if (!zone) return fail(std::move(zone).error().WithContext("--tz"));
    question.zone = *zone;
    question.from = clock.Now();
    if (const std::string& from = arguments.Get("from"); !from.empty()) {
        const auto instant = ParseTime(from);
        if (!instant) return fail(Error(instant.error()).WithContext("--from"));
        question.from = *instant;
    }
    auto compiled = Schedule::Compile(*spec, {zones, {}, {}});
    if (!compiled) {
        return fail({Code::kInvalidArgument, compiled.error().problems.at(0).message});
    }
    question.schedule = *std::move(compiled);
    return question;
}

std::vector<TimePoint> FiresFrom(const Question& question, std::size_t count) {
    std::vector<TimePoint> fires;
    auto next = question.schedule->NextInDialect(question.from);
    while (next && fires.size() < count) {
        fires.push_back(*next);
        next = question.schedule->NextInDialect(*next);
    }
    return fires;
}

int NeverFires(const Question& question, Output& output) {
    const bool someday = question.schedule->EverFires();
    output.err +=
        someday ? fmt::format("ksana: it does not fire {} {}\n",
                              question.cron.dialect == CronDialect::kLibrary ? "within 370 days of"
                                                                             : "after",
                              FormatTime(question.from))
                : "ksana: the expression is valid, but it never fires\n";
    return kExitNever;
}

int Next(const Arguments& arguments, const Clock& clock, Output& output) {
    const auto count = arguments.GetNumber("count", 1, kMaxCount);
    if (!count) return Fail(count.error(), output);
    const Question question = Prepare(arguments, clock, output);
    if (!question.schedule) return question.exit_code;
    std::vector<std::string> lines;
    for (const TimePoint fire : FiresFrom(question, static_cast<std::size_t>(*count))) {
        lines.push_back(FormatTime(fire));
    }
    if (lines.empty()) return NeverFires(question, output);
    if (arguments.Get("output") == "json") {
        output.out += codec::StringsToJson(lines) + "\n";
    } else {
        for (const std::string& line : lines) output.out += line + "\n";
    }
    return kExitOk;
}

int Explain(const Arguments& arguments, const Clock& clock, Output& output) {
    const Question question = Prepare(arguments, clock, output);
    if (!question.schedule) return question.exit_code;
    const auto fires = FiresFrom(question, kExplainedFires);
    if (fires.empty()) return NeverFires(question, output);
    output.out += schedule::DescribeCron(question.cron) + "\n\n";
    output.out += fmt::format("Next in {}:\n", question.zone->name());
    for (const TimePoint fire : fires) {
        const std::string_view note = schedule::DstNoteText(question.schedule->NoteFor(fire));
        output.out += fmt::format("  {}{}\n", schedule::LocalTimeText(*question.zone, fire),
                                  note.empty() ? "" : fmt::format("  ({})", note));
    }
    return kExitOk;
}

std::vector<OptionSpec> CommonOptions() {
    return {
        {"tz", '\0', "ZONE", "time zone, an IANA name", "UTC"},
        {"from", '\0', "TIME", "look after this instant, RFC 3339 (default: now)", ""},
        {"dialect", '\0', "NAME", "dialect", "standard", {"standard", "library"}},
        {"day-match", '\0', "RULE", "both days restricted (default or)", "", {"or", "and"}},
        {"gap", '\0', "POLICY", "a time that clocks skip", "run_after", {"run_after", "skip"}},
        {"fold", '\0', "POLICY", "a time that comes twice", "first", {"first", "second", "both"}},
    };
}

constexpr std::string_view kSyntaxHelp =
    "EXPR is one argument, so put it in quotes:\n"
    "  minute hour day-of-month month day-of-week, or 6 fields with seconds first\n"
    "  *  5  1,15  9-17  */10  9-17/2  JAN  MON-FRI   and @hourly @daily @weekly\n"
    "  L (last day)  L-3  LW (last working day)  15W (nearest working day)\n"
    "  5L (last Friday)  2#1 (first Tuesday)  ? (same as * in a day field)\n"
    "When both day fields are restricted, either makes a match (--day-match and:\n"
    "both must).\n";

constexpr std::string_view kNextHelp =
    "One UTC instant a line. Exit code 2: the expression, the zone or an option is\n"
    "wrong. Exit code 3: valid, but it never fires; nothing is printed.\n\n";

constexpr std::string_view kExplainHelp = "A sentence, and the next five fires in local time.\n\n";

}  // namespace

std::vector<Command> CronCommands(const Clock& clock) {
    static const std::string next_details = std::string(kNextHelp).append(kSyntaxHelp);
    static const std::string explain_details = std::string(kExplainHelp).append(kSyntaxHelp);
    std::vector<OptionSpec> next_options = CommonOptions();
    next_options.push_back({"count", 'n', "N", "how many fires", "1"});
    next_options.push_back({"output", 'o', "FORMAT", "output", "text", {"text", "json"}});
    return {
        {"cron next", "EXPR", "Prints the next fires of a cron expression", next_details, 1,
         std::move(next_options),
         [&clock](const Arguments& arguments, Output& output) {
             return Next(arguments, clock, output);
         }},
        {"cron explain", "EXPR", "Explains a cron expression in words", explain_details, 1,
         CommonOptions(),
         [&clock](const Arguments& arguments, Output& output) {
             return Explain(arguments, clock, output);
         }},
    };
}

}  // namespace ksana::app
