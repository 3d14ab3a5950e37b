#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/error.hpp"
#include "ksana/server/settings/setting_table.hpp"
#include "ksana/server/settings/settings.hpp"

namespace ksana::server {

// A value from one of the sources, not parsed yet.
struct GivenSetting {
    const SettingSpec* spec;
    SettingOrigin origin;
    std::vector<std::string> texts;
    // From a variable without the prefix KSANA_, which may belong to another program.
    bool plain = false;
};

struct GivenSettings {
    std::vector<GivenSetting> settings;  // in ascending order of precedence
    std::vector<Problem> problems;       // unknown names, wrong types, unreadable file
    std::string file;                    // the file that was read; "": none
};

GivenSettings ReadSources(const SettingInputs& inputs);

// Returns the place of a fault: "--port", "environment/PORT", "ksana.toml:3/port".
std::string PathOf(const SettingOrigin& origin, std::string_view name);

}  // namespace ksana::server
