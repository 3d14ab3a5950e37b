#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ksana/server/settings/settings.hpp"

namespace ksana::server {

// The member that holds the value; its type is the type of the setting. std::uint64_t is a size in
// bytes.
using SettingMember =
    std::variant<std::string Settings::*, std::int32_t Settings::*, bool Settings::*,
                 Duration Settings::*, std::uint64_t Settings::*, LogLevel Settings::*,
                 LogFormat Settings::*, EgressPolicy Settings::*,
                 std::vector<std::string> Settings::*, StoreUrl Settings::*,
                 lock::LockUrl Settings::*, std::optional<broker::BrokerUrl> Settings::*>;

// One row of the table of settings. Parsing and help are made from it, and a test holds
// docs/configuration.md to it.
struct SettingSpec {
    std::string_view name;  // key in the file; the flag and the variable are derived from it
    SettingMember member;
    std::string_view default_text;  // "": none
    std::string_view value_name;    // for help: "PORT"
    std::string_view help;          // one line, without a full stop
    std::string_view low;           // lower bound, written like the value; "": none
    std::string_view high;
    std::string_view plain_variable;   // name without KSANA_, as K-17 has it; "": none
    std::string_view second_variable;  // another KSANA_ name; "": none
    // Returns what is wrong with a text (or with one item of a list), or nullopt. Null: no check.
    std::optional<std::string> (*fault_of)(std::string_view text) = nullptr;
};

// Returns all rows. data_dir comes before store, whose parsing needs it.
std::span<const SettingSpec> AllSettings();

// Returns null if there is no such setting.
const SettingSpec* FindSetting(std::string_view name);

std::string FlagOf(const SettingSpec& spec);      // "log-level", without the dashes
std::string VariableOf(const SettingSpec& spec);  // "KSANA_LOG_LEVEL"
// Returns all variables, the strongest first: "KSANA_DATA_DIR", "KSANA_DATA", "DATA_DIR".
std::vector<std::string> VariablesOf(const SettingSpec& spec);

}  // namespace ksana::server
