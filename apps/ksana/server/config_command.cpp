#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "apps/ksana/server/config_file.hpp"
#include "apps/ksana/server/setting_options.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/codec/v1/definitions.hpp"
#include "ksana/server/settings/setting_table.hpp"
#include "ksana/server/settings/setting_value.hpp"

namespace ksana::app {
namespace {

using server::LoadedSettings;
using server::SettingOrigin;
using server::SettingSource;
using server::SettingSpec;

std::string_view NameOf(SettingSource source) {
    switch (source) {
        case SettingSource::kFlag:
            return "flag";
        case SettingSource::kEnvironment:
            return "environment";
        case SettingSource::kFile:
            return "file";
        case SettingSource::kDefault:
            break;
    }
    return "default";
}

// Formats a value as in the settings file. A JSON string is a valid TOML string.
std::string TomlValue(const SettingSpec& spec, const std::string& shown) {
    switch (server::FormOf(spec)) {
        case server::TomlForm::kInteger:
        case server::TomlForm::kBoolean:
            return shown;
        case server::TomlForm::kText:
            break;
        case server::TomlForm::kList: {
            std::string items;
            for (const std::string& item : server::SplitList(shown)) {
                items += (items.empty() ? "" : ", ") + codec::TextToJson(item);
            }
            return fmt::format("[{}]", items);
        }
    }
    return codec::TextToJson(shown);
}

// Formats all settings as a file. A setting that is unset and has no default appears as a comment.
std::string ToToml(const LoadedSettings& loaded, bool with_origin) {
    struct Line {
        std::string text;
        std::string_view place;
    };
    std::vector<Line> lines;
    std::size_t width = 0;
    for (const SettingSpec& spec : server::AllSettings()) {
        const std::string shown = server::ShownValue(spec, loaded.settings);
        std::string text =
            fmt::format("{}{} = {}", shown.empty() ? "#" : "", spec.name, TomlValue(spec, shown));
        width = std::max(width, text.size());
        lines.push_back({std::move(text), loaded.origins.at(spec.name).place});
    }
    constexpr std::size_t kWidest = 40;  // one long value must not push all comments to the right
    width = std::min(width, kWidest);
    std::string toml;
    for (const Line& line : lines) {
        toml += with_origin ? fmt::format("{:<{}}  # {}\n", line.text, width, Printable(line.place))
                            : line.text + "\n";
    }
    return toml;
}

std::string ToJson(const LoadedSettings& loaded) {
    std::string items;
    for (const SettingSpec& spec : server::AllSettings()) {
        const SettingOrigin& origin = loaded.origins.at(spec.name);
        items += fmt::format(
            "{}\n  {{\"key\": \"{}\", \"value\": {}, \"source\": \"{}\", \"place\": {}}}",
            items.empty() ? "" : ",", spec.name,
            codec::TextToJson(server::ShownValue(spec, loaded.settings)), NameOf(origin.source),
            codec::TextToJson(Printable(origin.place)));
    }
    return fmt::format("[{}\n]\n", items);
}

int Show(const Arguments& arguments, const Process& process, Output& output) {
    const auto loaded = server::LoadSettings(SettingInputsOf(arguments, process));
    if (!loaded) return Fail(loaded.error(), output);
    output.out += arguments.Get("output") == "json" ? ToJson(*loaded)
                                                    : ToToml(*loaded, arguments.Has("origin"));
    return kExitOk;
}

int Check(const Arguments& arguments, Output& output) {
    const std::string& path = arguments.words().at(0);
    if (const auto text = ReadConfigFile(path); !text) return Fail(text.error(), output);
    // Checks the file alone: the environment here may differ from the one where the file will be
    // used.
    const auto loaded = server::LoadSettings(
        {.flags = {}, .config_file = path, .environment = {}, .read_file = ReadConfigFile});
    if (!loaded) return Fail(loaded.error(), output);
    std::size_t given = 0;
    for (const auto& [name, origin] : loaded->origins) {
        if (origin.source == SettingSource::kFile) ++given;
    }
    output.out +=
        fmt::format("{} is right: {} settings, the rest by default\n", Printable(path), given);
    return kExitOk;
}

constexpr std::string_view kShowDetails =
    "What `ksana server` with the same flags, environment and file would run with,\n"
    "as a file of settings; the password of a store is \"***\". With --origin each\n"
    "line says where it came from: a flag, a variable, a line of the file, or the\n"
    "default.\n\n"
    "Exit code 2: the configuration is not right; every fault is named.\n";

constexpr std::string_view kCheckDetails =
    "Looks at the file alone, without the environment: unknown names, wrong values,\n"
    "settings that do not go together. Exit code 2: every fault is named, with its\n"
    "line.\n"
    "Exit code 3: there is no such file.\n";

}  // namespace

std::vector<Command> ConfigCommands(const Process& process) {
    std::vector<OptionSpec> options = {
        {"origin", '\0', "", "say where each value came from", ""},
        {"output", 'o', "FORMAT", "output", "text", {"text", "json"}}};
    for (OptionSpec& option : SettingOptions()) options.push_back(std::move(option));
    return {{"config show", "", "Shows the settings of a server that would start here",
             kShowDetails, 0, std::move(options),
             [&process](const Arguments& arguments, Output& output) {
                 return Show(arguments, process, output);
             }},
            {"config check", "FILE", "Checks a file of settings", kCheckDetails, 1, {}, Check}};
}

}  // namespace ksana::app
