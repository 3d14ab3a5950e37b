#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include "apps/ksana/apply/apply_plan.hpp"
#include "apps/ksana/apply/apply_text.hpp"
#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/client/api_list.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

std::string PathOf(ItemKind kind, const std::string& name) {
    switch (kind) {
        case ItemKind::kCalendar:
            return ApiPath({"calendars", name});
        case ItemKind::kGroup:
            return ApiPath({"groups", name});
        case ItemKind::kJob:
            break;
    }
    return ApiPath({"jobs", name});
}

// Returns null if the item does not exist.
Result<Json> Look(client::ApiClient& api, ItemKind kind, const std::string& name) {
    auto answer = api.Get(PathOf(kind, name));
    if (answer) return answer->json;
    if (answer.error().code == Code::kNotFound) return Json();
    return std::move(answer).error();
}

Result<StoredItems> LookAtAll(client::ApiClient& api, const DefinedItems& wanted,
                              const std::string& set) {
    StoredItems stored;
    // One list instead of one request for each job: most wanted jobs exist from an earlier apply.
    KSANA_TRY(const auto own, client::ListAll(api, ApiPath({"jobs"}),
                                              {{"label", fmt::format("{}={}", kSetLabel, set)}},
                                              client::kMostListed));
    if (!own.next_cursor.empty()) {
        return Error(Code::kExhausted, fmt::format("set {} has more than {} jobs", Printable(set),
                                                   client::kMostListed));
    }
    for (const Json& job : own.items) stored.jobs.emplace(job.TextAt("/id"), job);
    for (const WantedJob& job : wanted.jobs) {
        if (stored.jobs.contains(job.job.id)) continue;
        KSANA_TRY(Json there, Look(api, ItemKind::kJob, job.job.id));
        if (!there.IsNull()) stored.jobs.emplace(job.job.id, std::move(there));
    }
    for (const schedule::Calendar& calendar : wanted.calendars) {
        KSANA_TRY(Json there, Look(api, ItemKind::kCalendar, calendar.name));
        if (!there.IsNull()) stored.calendars.emplace(calendar.name, std::move(there));
    }
    for (const codec::DefinedGroup& group : wanted.groups) {
        KSANA_TRY(Json there, Look(api, ItemKind::kGroup, group.name));
        if (!there.IsNull()) stored.groups.emplace(group.name, std::move(there));
    }
    return stored;
}

Result<void> CarryOut(client::ApiClient& api, const PlanItem& item) {
    std::string path = PathOf(item.kind, item.name);
    if (item.verb == PlanVerb::kDelete) {
        KSANA_TRY_VOID(api.Delete(std::move(path), item.if_match));
        return {};
    }
    // The path has the name; the body of a group must not repeat it.
    const Json body = item.kind == ItemKind::kJob ? item.body : item.body.Without("/name");
    KSANA_TRY_VOID(api.Put(
        std::move(path), body,
        item.if_match.empty() ? std::string(client::ApiClient::kMustBeNew) : item.if_match));
    return {};
}

// Makes the changes until one fails. The error says how many were made before it and how many were
// not tried.
Result<std::size_t> CarryOutAll(ApiSession& session, const Plan& plan) {
    const std::size_t all = plan.items.size() - plan.Count(PlanVerb::kSame);
    std::size_t done = 0;
    for (const PlanItem& item : plan.items) {
        if (item.verb == PlanVerb::kSame) continue;
        if (auto carried = CarryOut(session.api, item); !carried) {
            Error error = std::move(carried).error().WithContext(
                fmt::format("{} {}", NameOf(item.kind), Printable(item.name)));
            error.message += fmt::format(
                " ({} of {} changes were made before it, {} were not tried; once that is put "
                "right, apply again)",
                done, all, all - done - 1);
            return error;
        }
        ++done;
    }
    return done;
}

bool IsSetName(const std::string& set) {
    return !set.empty() && set.size() <= 100 && set.find_first_of("=, \t\n") == std::string::npos;
}

Result<int> Apply(ApiSession& session) {
    const Arguments& arguments = session.arguments;
    const std::vector<std::string>& files = arguments.All("file");
    if (files.empty()) {
        return Error(Code::kInvalidArgument, "-f FILE is missing: a file, a folder, or -");
    }
    const std::string& set = arguments.Get("set");
    if (!IsSetName(set)) {
        return Error(Code::kInvalidArgument, "--set must be a word of up to 100 characters");
    }
    KSANA_TRY(const DefinedItems wanted, ReadDefinitionFiles(files, session.process));
    KSANA_TRY(const StoredItems stored, LookAtAll(session.api, wanted, set));
    KSANA_TRY(const Plan plan, MakePlan(wanted, stored, {set, arguments.Has("prune")}));

    const bool dry = arguments.Has("dry-run");
    const bool table = session.style.IsTable();
    if (table) {
        session.output.out += PlanText(plan, session.style);
        session.output.out += PlanSummary(plan) + "\n";
    }
    std::size_t done = 0;
    if (!dry && plan.Changes()) {
        // The user must see the plan before the question.
        if (!session.output.Flush()) return kExitFailed;
        KSANA_TRY(const bool agreed, Confirm(session, "Apply this?"));
        if (!agreed) return kExitFailed;
        KSANA_TRY(done, CarryOutAll(session, plan));
    }
    if (table) {
        const std::string_view ending = done == 1 ? "" : "s";
        if (done > 0) session.output.out += fmt::format("applied {} change{}\n", done, ending);
    } else if (session.style.format == Format::kName) {
        for (const PlanItem& item : plan.items) session.output.out += item.name + "\n";
    } else {
        const Json json = PlanToJson(plan, set, done);
        session.output.out +=
            (session.style.format == Format::kJson ? json.Pretty() : json.Compact()) + "\n";
    }
    return dry && plan.Changes() ? kExitPending : kExitOk;
}

constexpr std::string_view kApplyDetails =
    "FILE is TOML or JSON and holds jobs, calendars and groups:\n"
    "  [[jobs]]\n"
    "  id = \"nightly\"\n"
    "  name = \"nightly report\"\n"
    "  schedule = { kind = \"cron\", cron = \"0 3 * * MON-FRI\" }\n"
    "  http = { url = \"http://127.0.0.1:7100/demo/hello\" }\n\n"
    "Of a folder every .toml and .json file counts; - is standard input. All files\n"
    "are checked before anything is asked or changed. The plan is shown first:\n"
    "  + is made   ~ is changed, with the members that differ   - is deleted\n"
    "What is the same is only counted (-o wide names it). A job that somebody paused\n"
    "stays paused unless the file says `enabled`.\n\n"
    "What an apply makes carries the label apply_set. With --prune, jobs with the\n"
    "label of this set are deleted that no file names any more; others, calendars and\n"
    "groups never are. A job that was changed by hand since is reported and set back.\n\n"
    "Exit code 8: --dry-run, and something would change. Exit code 5: somebody else\n"
    "changed a thing meanwhile. What was done before an error is told, and stays.\n";

}  // namespace

Command ApplyCommand(const Process& process) {
    return {.path = "apply",
            .words = "",
            .summary = "Makes the server hold what files say, after showing the plan",
            .details = kApplyDetails,
            .options = {{.name = "file",
                         .letter = 'f',
                         .value_name = "FILE",
                         .help = "file or folder, more than once; - is standard input",
                         .default_value = "",
                         .repeated = true},
                        {"prune", '\0', "", "delete jobs of this set that no file names", ""},
                        {"dry-run", '\0', "", "show the plan, change nothing", ""},
                        {"set", '\0', "NAME", "which set of files this is", "default"}},
            .run = MakeApiCommand(process, Apply),
            .asks_server = true};
}

}  // namespace ksana::app
