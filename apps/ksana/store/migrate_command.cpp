#include "apps/ksana/commands.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>

#include "apps/ksana/store/store_option.hpp"
#include "ksana/codec/v1/definitions.hpp"

namespace ksana::app {
namespace {

using store_kit::MigrationStatus;

// A schema and its store.
struct Schema {
    std::string store;  // the URL without secrets
    MigrationStatus status;
    std::vector<int> applied_now;  // versions that this command applied
};

Result<MigrationStatus> Read(const server::StoreUrl& url, const Process& process) {
    KSANA_TRY(MigrationStatus status, server::MigrationStatusOf(url, EnvironmentOf(process)));
    if (status.newest_applied > status.newest_known) {
        return Error(
            Code::kConflict,
            fmt::format("{} has schema version {}, this program knows up to {}: use a "
                        "newer program",
                        server::ShownUrl(url), status.newest_applied, status.newest_known));
    }
    return status;
}

Result<Schema> Look(const server::StoreUrl& url, const Process& process) {
    KSANA_TRY(MigrationStatus status, Read(url, process));
    return Schema{server::ShownUrl(url), std::move(status), {}};
}

bool IsApplied(const MigrationStatus& status, int version) {
    for (const MigrationStatus::Step& step : status.steps) {
        if (step.version == version) return step.applied;
    }
    return false;
}

Result<Schema> Migrate(const server::StoreUrl& url, const Process& process) {
    auto before = Read(url, process);
    if (!before && before.error().code != Code::kNotFound) return std::move(before).error();
    if (before && before->steps.empty()) return Schema{server::ShownUrl(url), {}, {}};
    // Opening a store for writing migrates it, here as in the server.
    KSANA_TRY(auto store,
              server::OpenStore(url, EnvironmentOf(process), server::OpenMode::kReadWrite));
    store.reset();
    KSANA_TRY(MigrationStatus after, Read(url, process));
    Schema schema{server::ShownUrl(url), std::move(after), {}};
    for (const MigrationStatus::Step& step : schema.status.steps) {
        const bool was = before && IsApplied(*before, step.version);
        if (step.applied && !was) schema.applied_now.push_back(step.version);
    }
    return schema;
}

std::string ToJson(const Schema& schema) {
    std::string steps;
    for (const MigrationStatus::Step& step : schema.status.steps) {
        steps += fmt::format("{}\n    {{\"version\": {}, \"name\": {}, \"applied\": {}}}",
                             steps.empty() ? "" : ",", step.version, codec::TextToJson(step.name),
                             step.applied);
    }
    if (!steps.empty()) steps += "\n  ";
    return fmt::format(
        "{{\n  \"store\": {},\n  \"version\": {},\n  \"newest\": {},\n  \"pending\": {},\n"
        "  \"applied_now\": [{}],\n  \"steps\": [{}]\n}}\n",
        codec::TextToJson(schema.store), schema.status.newest_applied, schema.status.newest_known,
        schema.status.Pending(), fmt::join(schema.applied_now, ", "), steps);
}

std::string ToText(const Schema& schema, bool only_status) {
    if (schema.status.steps.empty()) {
        return fmt::format("{} has no schema: nothing to migrate\n", schema.store);
    }
    std::string text;
    for (const MigrationStatus::Step& step : schema.status.steps) {
        const bool now = std::ranges::count(schema.applied_now, step.version) > 0;
        if (!only_status && !now) continue;
        text += fmt::format("{:>4}  {:<8}  {}\n", step.version,
                            step.applied ? "applied" : "pending", step.name);
    }
    text += fmt::format("{}: schema version {}{}\n", schema.store, schema.status.newest_applied,
                        schema.status.Pending()
                            ? fmt::format(", newest is {}", schema.status.newest_known)
                            : ", the newest");
    return text;
}

int RunMigrate(const Arguments& arguments, const Process& process, Output& output) {
    const auto url = StoreUrlOf(arguments, process);
    if (!url) return Fail(url.error(), output);
    const bool only_status = arguments.Has("status");
    const auto schema = only_status ? Look(*url, process) : Migrate(*url, process);
    if (!schema) return Fail(schema.error(), output);
    output.out +=
        arguments.Get("output") == "json" ? ToJson(*schema) : ToText(*schema, only_status);
    return schema->status.Pending() ? kExitPending : kExitOk;
}

constexpr std::string_view kMigrateDetails =
    "Prints each step that it applies; the server applies them when it starts. A\n"
    "store that does not exist is made; json and memory have no schema. There is no\n"
    "way back: make a copy before.\n\n"
    "With --status nothing is changed: every version is listed, applied or pending.\n"
    "Exit code 8: something is pending. Exit code 5: a newer program made the schema.\n";

}  // namespace

Command MigrateCommand(const Process& process) {
    return {"migrate",
            "",
            "Brings the schema of a store to the newest version",
            kMigrateDetails,
            0,
            {StoreOption(),
             {"status", '\0', "", "change nothing, list the versions", ""},
             {"output", 'o', "FORMAT", "output", "text", {"text", "json"}}},
            [&process](const Arguments& arguments, Output& output) {
                return RunMigrate(arguments, process, output);
            }};
}

}  // namespace ksana::app
