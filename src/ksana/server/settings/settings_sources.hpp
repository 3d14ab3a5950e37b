#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/error.hpp"
#include "ksana/server/settings/setting_table.hpp"
#include "ksana/server/settings/settings.hpp"

namespace ksana::server {

// A value that somebody wrote somewhere, not looked at yet.
struct GivenSetting {
    const SettingSpec* spec;
    SettingOrigin origin;
    std::vector<std::string> texts;
    // A variable without KSANA_ in front: perhaps not meant for us.
    bool plain = false;
};

struct GivenSettings {
    std::vector<GivenSetting> settings;  // a later one is stronger
    std::vector<Problem> problems;       // unknown names, wrong types, what cannot be read
    std::string file;                    // that was read; "" is none
};

GivenSettings ReadSources(const SettingInputs& inputs);

// Where a fault is: "--port", "environment/PORT", "ksana.toml:3/port".
std::string PathOf(const SettingOrigin& origin, std::string_view name);

}  // namespace ksana::server
