#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/server/settings/setting_table.hpp"

namespace ksana::server {

// How a setting is written in a TOML file; everywhere else it is a text.
enum class TomlForm : std::uint8_t { kText, kInteger, kList };

TomlForm FormOf(const SettingSpec& spec);

// What is wrong with the value, or nothing, and then it is set. A list has any number of texts,
// all else one.
std::optional<std::string> SetValue(const SettingSpec& spec, const std::vector<std::string>& texts,
                                    Settings& settings);

// The items of a list in a flag or variable: "10.0.0.0/8, fd00::/8".
std::vector<std::string> SplitList(std::string_view text);

// As people may see it: a password of the store is "***". Otherwise it reads back the same.
std::string ShownValue(const SettingSpec& spec, const Settings& settings);

}  // namespace ksana::server
