#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/server/settings/setting_table.hpp"

namespace ksana::server {

// The type of a setting in a TOML file. In flags and variables every setting is a text.
enum class TomlForm : std::uint8_t { kText, kInteger, kBoolean, kList };

TomlForm FormOf(const SettingSpec& spec);

// Parses the value and sets it. Returns what is wrong with it, or nullopt if it was set. A list
// takes any number of texts, every other type exactly one.
std::optional<std::string> SetValue(const SettingSpec& spec, const std::vector<std::string>& texts,
                                    Settings& settings);

// Splits a list given in a flag or variable: "10.0.0.0/8, fd00::/8".
std::vector<std::string> SplitList(std::string_view text);

// Returns the value for display. A password in the store's URL is shown as "***"; every other
// printable value parses to the same.
std::string ShownValue(const SettingSpec& spec, const Settings& settings);

}  // namespace ksana::server
