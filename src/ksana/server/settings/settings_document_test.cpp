#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "ksana/server/settings/setting_table.hpp"
#include "ksana/server/settings/setting_value.hpp"
#include "ksana/server/settings/settings.hpp"

namespace ksana::server {
namespace {

std::string DocumentText() {
    std::ifstream file(std::string(KSANA_SOURCE_DIR) + "/docs/configuration.md");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string ExpectedRow(const SettingSpec& spec) {
    std::string variables;
    for (const std::string& name : VariablesOf(spec)) {
        variables += fmt::format("{}`{}`", variables.empty() ? "" : ", ", name);
    }
    std::string help(spec.help);
    if (!spec.low.empty()) help += fmt::format("; {} to {}", spec.low, spec.high);
    const std::string shown =
        spec.default_text.empty() ? "" : fmt::format("`{}`", spec.default_text);
    return fmt::format("| `{}` | `--{} {}` | {} | {} | {} |\n", spec.name, FlagOf(spec),
                       spec.value_name, variables, shown, help);
}

// The table in docs/configuration.md must match setting_table.cpp.
TEST(SettingsDocument, HasTheRowOfEverySetting) {
    const std::string text = DocumentText();
    for (const SettingSpec& spec : AllSettings()) {
        EXPECT_NE(text.find(ExpectedRow(spec)), std::string::npos)
            << "docs/configuration.md lacks:\n"
            << ExpectedRow(spec);
    }
}

// Users copy the example, so it must be valid.
TEST(SettingsDocument, ItsExampleOfAFileIsRight) {
    const std::string text = DocumentText();
    const std::string fence = "```toml\n";
    ASSERT_NE(text.find(fence), std::string::npos);
    const std::size_t begin = text.find(fence) + fence.size();
    const std::string example = text.substr(begin, text.find("```", begin) - begin);
    const auto loaded = LoadSettings(
        {.flags = {},
         .config_file = "example.toml",
         .environment = {},
         .read_file = [&](const std::string&) -> Result<std::string> { return example; }});
    ASSERT_TRUE(loaded) << loaded.error().Describe();
    EXPECT_EQ(loaded->file, "example.toml");
}

TEST(SettingTable, NamesAreUniqueAndEveryRowIsWhole) {
    std::set<std::string> names;
    for (const SettingSpec& spec : AllSettings()) {
        EXPECT_TRUE(names.insert(FlagOf(spec)).second) << spec.name;
        for (const std::string& name : VariablesOf(spec)) {
            EXPECT_TRUE(names.insert(name).second) << name;
        }
        EXPECT_FALSE(spec.help.empty() || spec.value_name.empty()) << spec.name;
        EXPECT_FALSE(spec.help.ends_with('.')) << spec.name;
        EXPECT_EQ(spec.low.empty(), spec.high.empty()) << spec.name;
    }
}

}  // namespace
}  // namespace ksana::server
