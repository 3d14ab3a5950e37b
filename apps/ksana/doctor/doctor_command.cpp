#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "apps/ksana/doctor/doctor_checks.hpp"
#include "apps/ksana/server/setting_options.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/codec/v1/definitions.hpp"

namespace ksana::app {
namespace {

using Level = Finding::Level;

Finding ConfigurationFinding(const Result<server::LoadedSettings>& loaded) {
    if (!loaded) {
        return {"configuration", Level::kFail, loaded.error().Describe(),
                "correct what is named; `ksana config check FILE` looks at a file alone"};
    }
    const auto given = std::ranges::count_if(loaded->origins, [](const auto& entry) {
        return entry.second.source != server::SettingSource::kDefault;
    });
    return {"configuration", Level::kOk,
            fmt::format("{}, {} of {} settings given",
                        loaded->file.empty() ? "no file" : Printable(loaded->file), given,
                        loaded->origins.size()),
            ""};
}

std::vector<Finding> Examine(const Arguments& arguments, const Process& process) {
    const ClockCheck clock(process);
    const auto loaded = server::LoadSettings(SettingInputsOf(arguments, process));
    std::vector<Finding> findings = {ConfigurationFinding(loaded)};
    const auto add = [&](std::vector<Finding> more) {
        for (Finding& finding : more) findings.push_back(std::move(finding));
    };
    // Without settings, the remaining checks do not know where to look.
    if (loaded) {
        const server::Settings& settings = loaded->settings;
        findings.push_back(CheckStore(settings, process));
        if (!arguments.Get("store").empty()) {
            add(CheckDamage(settings, arguments.Has("repair"), process));
        }
        add(CheckLocks(settings, process));
        add(CheckBroker(settings, process));
        add(CheckFolder(settings, process));
        add(CheckFiles(settings));
        findings.push_back(CheckPort(settings, process));
        findings.push_back(CheckEgress(settings));
        add(CheckCommands(settings));
        findings.push_back(CheckDescriptors(settings));
    }
    findings.push_back(CheckLibraries());
    findings.push_back(CheckZones(process));
    findings.push_back(clock.End());
    return findings;
}

// Indents all lines but the first.
std::string Indented(const std::string& text, std::size_t columns) {
    std::string out;
    for (const char c : text) {
        out += c;
        if (c == '\n') out.append(columns, ' ');
    }
    return out;
}

std::string ToText(const std::vector<Finding>& findings) {
    std::size_t width = 0;
    for (const Finding& finding : findings) width = std::max(width, finding.check.size());
    std::string text;
    for (const Finding& finding : findings) {
        text += fmt::format("{:<4}  {:<{}}  {}\n", NameOf(finding.level), finding.check, width,
                            Indented(finding.found, width + 8));
        if (!finding.advice.empty()) {
            text += fmt::format("      {:<{}}  -> {}\n", "", width, finding.advice);
        }
    }
    return text;
}

std::string ToJson(const std::vector<Finding>& findings, bool healthy) {
    std::string items;
    for (const Finding& finding : findings) {
        items += fmt::format(
            "{}\n    {{\"check\": \"{}\", \"level\": \"{}\", \"found\": {}, \"advice\": {}}}",
            items.empty() ? "" : ",", finding.check, NameOf(finding.level),
            codec::TextToJson(finding.found), codec::TextToJson(finding.advice));
    }
    return fmt::format("{{\n  \"healthy\": {},\n  \"checks\": [{}\n  ]\n}}\n", healthy, items);
}

int RunDoctor(const Arguments& arguments, const Process& process, Output& output) {
    const std::vector<Finding> findings = Examine(arguments, process);
    const auto count = [&](Level level) {
        return std::ranges::count(findings, level, &Finding::level);
    };
    const auto failed = count(Level::kFail);
    if (arguments.Get("output") == "json") {
        output.out += ToJson(findings, failed == 0);
    } else {
        output.out += ToText(findings);
        output.out += fmt::format("\n{} ok, {} to look at, {} failed\n", count(Level::kOk),
                                  count(Level::kWarn), failed);
    }
    return failed == 0 ? kExitOk : kExitFailed;
}

constexpr std::string_view kDoctorDetails =
    "Looks at the configuration, the store and its schema, the disk and how long a\n"
    "durable write takes, the files that the settings name, the port (free, or a\n"
    "server that answers and how it is), the limits of the process, libcurl, time\n"
    "zones and the clock. It takes the options of `ksana server` and changes\n"
    "nothing. Each check is over within seconds. Exit code 1: something failed.\n"
    "\n"
    "With --store it also reads all files of a SQLite or JSON store, best while no\n"
    "server runs, and tells damage: checksums, SQLite's integrity_check, a log that\n"
    "is cut or gone. --repair accepts what can be read, after a copy of the files.\n";

}  // namespace

Command DoctorCommand(const Process& process) {
    std::vector<OptionSpec> options = {
        {"output", 'o', "FORMAT", "output", "text", {"text", "json"}},
        {"repair", '\0', "", "with --store: accept damaged files, after a copy of them"}};
    for (OptionSpec& option : SettingOptions()) options.push_back(std::move(option));
    return {"doctor",
            "",
            "Checks that this machine is ready for a server",
            kDoctorDetails,
            0,
            std::move(options),
            [&process](const Arguments& arguments, Output& output) {
                return RunDoctor(arguments, process, output);
            }};
}

}  // namespace ksana::app
