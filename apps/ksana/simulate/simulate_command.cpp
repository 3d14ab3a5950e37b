#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "apps/ksana/apply/definition_files.hpp"
#include "apps/ksana/job/job_definition.hpp"
#include "apps/ksana/simulate/simulation_text.hpp"
#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

Result<Json> ChangesOf(const ApiSession& session) {
    KSANA_TRY(const DefinedItems wanted,
              ReadDefinitionFiles(session.arguments.All("file"), session.process));
    if (!wanted.calendars.empty() || !wanted.groups.empty()) {
        return Error(Code::kInvalidArgument,
                     "-f: a simulation takes jobs only; what a calendar would do is shown by "
                     "`ksana calendar preview`");
    }
    std::vector<Json> jobs;
    for (const WantedJob& job : wanted.jobs) {
        KSANA_TRY(Json definition, Json::Parse(codec::JobToJson(job.job)));
        jobs.push_back(std::move(definition));
    }
    return Json::Array(jobs);
}

Result<Json> RequestOf(const ApiSession& session) {
    const Arguments& arguments = session.arguments;
    Json body;
    for (const std::string_view option : {"from", "to"}) {
        if (!arguments.Has(option)) {
            return Error(Code::kInvalidArgument, fmt::format("--{} TIME is missing", option));
        }
        body = body.With(fmt::format("/{}", option), Json::Of(arguments.Get(option)));
    }
    if (arguments.Has("only-file")) {
        if (arguments.All("file").empty()) {
            return Error(Code::kInvalidArgument, "--only-file needs -f FILE");
        }
        body = body.With("/stored", Json::Of(false));
    }
    if (!arguments.All("file").empty()) {
        KSANA_TRY(const Json changes, ChangesOf(session));
        body = body.With("/changes", changes);
    }
    std::vector<Json> without;
    for (const std::string& id : arguments.All("without")) without.push_back(Json::Of(id));
    if (!without.empty()) body = body.With("/without", Json::Array(without));
    for (const std::string& given : arguments.All("duration")) {
        KSANA_TRY(const auto pair, PairOf("duration", given, '='));
        if (auto duration = ParseDuration(pair.second); !duration) {
            return std::move(duration).error().WithContext("--duration");
        }
        body = body.With("/durations" + PointerStep(pair.first), Json::Of(pair.second));
    }
    if (arguments.Has("default-duration")) {
        body = body.With("/default_duration", Json::Of(arguments.Get("default-duration")));
    }
    if (arguments.Has("slots")) {
        KSANA_TRY(const int slots, arguments.GetNumber("slots", 1, 1'000'000));
        body = body.With("/slots", Json::Of(std::int64_t{slots}));
    }
    return body;
}

Result<int> Simulate(ApiSession& session) {
    KSANA_TRY(const Json request, RequestOf(session));
    KSANA_TRY(const auto answer, session.api.Post(ApiPath({"simulate"}), request));
    if (!session.style.IsTable()) {
        ShowOne(session, answer.json, "/from");
        return kExitOk;
    }
    session.output.out += SimulationText(
        answer.json, {.style = session.style,
                      .columns = session.style.columns,
                      .blocks = SpeaksUtf8(session.process),
                      .most_jobs = session.style.format == Format::kWide ? std::size_t{100'000}
                                                                         : std::size_t{10}});
    return kExitOk;
}

constexpr std::string_view kSimulateDetails =
    "Puts the stored jobs, with those of FILE in their place or in addition, on a\n"
    "virtual clock: what fires, what overlaps and what is skipped, what nights do on\n"
    "which clocks change, and how much runs at once. A run takes as long as its job's\n"
    "runs did in the median, else --default-duration; nothing is run or stored.\n"
    "  ksana simulate --from 2026-12-01T00:00:00Z --to 2027-01-01T00:00:00Z\n\n"
    "-o json has every minute and every job. The chart is of letters where the locale\n"
    "is no UTF-8.\n";

}  // namespace

Command SimulateCommand(const Process& process) {
    return {.path = "simulate",
            .words = "",
            .summary = "Shows what the schedules would do in a time to come",
            .details = kSimulateDetails,
            .options = {{"from", '\0', "TIME", "from then, RFC 3339", ""},
                        {"to", '\0', "TIME", "until then, at most 400 days later", ""},
                        {.name = "file",
                         .letter = 'f',
                         .value_name = "FILE",
                         .help = "jobs that change or come in addition; - is standard input",
                         .default_value = "",
                         .repeated = true},
                        {"only-file", '\0', "", "without the jobs of the server", ""},
                        {.name = "without",
                         .value_name = "JOB",
                         .help = "leave this job out, more than once",
                         .default_value = "",
                         .repeated = true},
                        {.name = "duration",
                         .value_name = "ID=TIME",
                         .help = "how long runs of a job take, like nightly=20m, more than once",
                         .default_value = "",
                         .repeated = true},
                        {"default-duration", '\0', "DURATION", "of jobs that never ran", ""},
                        {"slots", '\0', "N", "runs at once, of all jobs (default: any)", ""}},
            .run = MakeApiCommand(process, Simulate),
            .asks_server = true};
}

}  // namespace ksana::app
