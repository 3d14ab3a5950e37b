#include "apps/ksana/server/setting_options.hpp"

#include <fmt/core.h>

#include "apps/ksana/server/config_file.hpp"
#include "ksana/server/settings/setting_table.hpp"

namespace ksana::app {
namespace {

struct SettingTexts {
    std::string flag;
    std::string help;
};

// OptionSpec holds string_views, so the texts live in one static table. The default is part of the
// help instead of OptionSpec::default_value: LoadSettings must know whether an option was given.
const std::vector<SettingTexts>& TextsOfSettings() {
    static const std::vector<SettingTexts> texts = [] {
        std::vector<SettingTexts> made;
        for (const server::SettingSpec& spec : server::AllSettings()) {
            std::string help(spec.help);
            if (!spec.default_text.empty()) help += fmt::format(" [{}]", spec.default_text);
            made.push_back({server::FlagOf(spec), std::move(help)});
        }
        return made;
    }();
    return texts;
}

}  // namespace

std::vector<OptionSpec> SettingOptions() {
    std::vector<OptionSpec> options;
    options.push_back(
        {.name = "config",
         .value_name = "FILE",
         .help = "settings in TOML; else KSANA_CONFIG, else ksana.toml if it is there",
         .default_value = ""});
    const auto settings = server::AllSettings();
    for (std::size_t n = 0; n < settings.size(); ++n) {
        options.push_back({.name = TextsOfSettings()[n].flag,
                           .value_name = settings[n].value_name,
                           .help = TextsOfSettings()[n].help,
                           .default_value = ""});
    }
    return options;
}

server::SettingInputs SettingInputsOf(const Arguments& arguments, const Process& process) {
    server::SettingInputs inputs;
    const auto settings = server::AllSettings();
    for (std::size_t n = 0; n < settings.size(); ++n) {
        inputs.flags.emplace(settings[n].name, arguments.Get(TextsOfSettings()[n].flag));
    }
    inputs.config_file = arguments.Get("config");
    inputs.environment = process.environment;
    inputs.read_file = ReadConfigFile;
    return inputs;
}

}  // namespace ksana::app
