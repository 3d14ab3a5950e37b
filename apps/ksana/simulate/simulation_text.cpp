#include "apps/ksana/simulate/simulation_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "apps/ksana/simulate/load_chart.hpp"
#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/table.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::app {
namespace {

using codec::Json;

std::int64_t NumberAt(const Json& json, std::string_view pointer) {
    return json.At(pointer).Int().value_or(0);
}

std::vector<std::int64_t> NumbersAt(const Json& json, std::string_view pointer) {
    std::vector<std::int64_t> numbers;
    for (const Json& item : json.At(pointer).Items()) numbers.push_back(item.Int().value_or(0));
    return numbers;
}

std::string TotalsText(const Json& sim, const Style& style) {
    std::string text =
        fmt::format("{} to {}: {} jobs, {} fires, {} runs\n", style.Time(sim.TextAt("/from")),
                    style.Time(sim.TextAt("/to")), NumberAt(sim, "/jobs"),
                    NumberAt(sim, "/totals/fires"), NumberAt(sim, "/totals/runs"));
    struct Part {
        std::string_view pointer;
        std::string_view words;
    };
    for (const Part& part :
         {Part{"/totals/skipped", "skipped, as an earlier run was not over"},
          Part{"/totals/queued", "waited for an earlier run"},
          Part{"/totals/cancelled", "cancelled by a later fire"},
          Part{"/totals/excluded", "taken away by calendars"},
          Part{"/totals/dst", "touched by a change of clocks"},
          Part{"/totals/unfinished", "not over at the end"}, Part{"/paused", "jobs are paused"},
          Part{"/broken", "jobs have a schedule that cannot be read"}}) {
        if (const std::int64_t count = NumberAt(sim, part.pointer); count > 0) {
            text += fmt::format("  {:>8} {}\n", count, part.words);
        }
    }
    if (!sim.At("/complete").True()) text += "  There are more jobs than were looked at.\n";
    return text;
}

std::string ChartText(std::string_view title, const Json& sim, std::string_view member, bool add,
                      const SimulationLook& look) {
    const auto from = ParseTime(sim.TextAt("/from"));
    const std::vector<std::int64_t> minutes = NumbersAt(sim, fmt::format("/load/{}", member));
    if (!from || minutes.empty()) return "";
    const std::string most = fmt::format("/load/max_{}", member);
    const Chart chart = LoadChart({minutes, *from, add}, {look.columns, 8, look.blocks});
    return fmt::format("\n{}, {} a column; at most {}{}{}\n{}", title,
                       FormatDuration(std::chrono::minutes(chart.step_minutes)),
                       NumberAt(sim, most), add ? " in a minute, at " : " at ",
                       look.style.Time(sim.TextAt(most + "_at")), chart.text);
}

std::string WaitsText(const Json& sim, const Style& style) {
    if (sim.At("/waits").IsNull()) return "";
    return fmt::format(
        "\nSlots: {}. Runs that had to wait: {}, up to {} at once;\n"
        "{} on average and at most {}, at {}.\n",
        NumberAt(sim, "/waits/slots"), NumberAt(sim, "/waits/runs"),
        NumberAt(sim, "/waits/max_waiting"), sim.TextAt("/waits/average"),
        sim.TextAt("/waits/longest"), style.Time(sim.TextAt("/waits/longest_at")));
}

// Lists jobs whose runs overlapped, those with the most affected fires first.
std::string OverlapText(const Json& sim, const SimulationLook& look) {
    const auto trouble = [](const Json& job) {
        return NumberAt(job, "/skipped") + NumberAt(job, "/queued") + NumberAt(job, "/cancelled");
    };
    std::vector<Json> jobs;
    for (const Json& job : sim.At("/outcomes").Items()) {
        if (trouble(job) > 0 || job.Has("/error")) jobs.push_back(job);
    }
    if (jobs.empty()) return "";
    std::ranges::stable_sort(jobs, std::greater<>(), trouble);
    Table table(std::vector<Title>{{"JOB", true},
                                   {"TAKES"},
                                   {"OVERLAP"},
                                   {"FIRES"},
                                   {"RUNS"},
                                   {"SKIPPED"},
                                   {"QUEUED"},
                                   {"CANCELLED"}});
    for (std::size_t n = 0; n < jobs.size() && n < look.most_jobs; ++n) {
        const Json& job = jobs[n];
        if (job.Has("/error")) {
            table.Add(
                {{job.TextAt("/id")}, {job.TextAt("/error"), Hue::kBad}, {}, {}, {}, {}, {}, {}});
            continue;
        }
        table.Add({{job.TextAt("/id")},
                   {job.TextAt("/duration") + (job.At("/measured").True() ? "" : "?")},
                   {job.TextAt("/overlap")},
                   {job.TextAt("/fires")},
                   {job.TextAt("/runs")},
                   {job.TextAt("/skipped"), Hue::kWarn},
                   {job.TextAt("/queued")},
                   {job.TextAt("/cancelled")}});
    }
    std::string text = "\nJobs that get in their own way (? is an assumption):\n";
    text += table.Text(look.style, look.style.colour);
    if (jobs.size() > look.most_jobs) {
        text +=
            fmt::format("... and {} more; -o wide lists them all\n", jobs.size() - look.most_jobs);
    }
    return text;
}

std::string ClockText(const Json& sim, const SimulationLook& look) {
    std::string text;
    for (const Json& example : sim.At("/examples").Items()) {
        if (example.TextAt("/kind") != "dst") continue;
        text +=
            fmt::format("  {}  {}  {}\n", look.style.Time(example.TextAt("/at")),
                        Printable(example.TextAt("/job_id")), Printable(example.TextAt("/dst")));
    }
    return text.empty() ? "" : "\nWhere clocks change:\n" + text;
}

}  // namespace

std::string SimulationText(const Json& simulation, const SimulationLook& look) {
    return TotalsText(simulation, look.style) +
           ChartText("Starts", simulation, "starts", true, look) +
           ChartText("Running at once", simulation, "running", false, look) +
           WaitsText(simulation, look.style) + OverlapText(simulation, look) +
           ClockText(simulation, look);
}

bool SpeaksUtf8(const Process& process) {
    for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        std::string value = VariableOf(process, name);
        if (value.empty()) continue;
        std::ranges::transform(value, value.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
        return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
    }
    return false;
}

}  // namespace ksana::app
