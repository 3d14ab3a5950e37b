#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ksana/server/settings/settings.hpp"

namespace ksana::server {

// Where a value goes; its type is the type of the setting. std::uint64_t is a size in bytes.
using SettingMember =
    std::variant<std::string Settings::*, std::int32_t Settings::*, Duration Settings::*,
                 std::uint64_t Settings::*, LogLevel Settings::*, LogFormat Settings::*,
                 EgressPolicy Settings::*, std::vector<std::string> Settings::*,
                 StoreUrl Settings::*>;

// One row of the table from which reading, help and docs/configuration.md are made.
struct SettingSpec {
    std::string_view name;  // the key of the file; flag and variable are made of it
    SettingMember member;
    std::string_view default_text;  // "" where there is none
    std::string_view value_name;    // for help: "PORT"
    std::string_view help;          // one line, without a full stop
    std::string_view low;           // bounds, written like the value; "" where there are none
    std::string_view high;
    std::string_view plain_variable;   // as K-17 names it
    std::string_view second_variable;  // another KSANA_ name
    // What is wrong with a text (with one item of a list), or nothing.
    std::optional<std::string> (*fault_of)(std::string_view text) = nullptr;
};

// data_dir stands before store, which needs it.
std::span<const SettingSpec> AllSettings();

// None: there is no such setting.
const SettingSpec* FindSetting(std::string_view name);

std::string FlagOf(const SettingSpec& spec);      // "log-level", without the dashes
std::string VariableOf(const SettingSpec& spec);  // "KSANA_LOG_LEVEL"
// All of them, the strongest first: "KSANA_DATA_DIR", "KSANA_DATA", "DATA_DIR".
std::vector<std::string> VariablesOf(const SettingSpec& spec);

}  // namespace ksana::server
