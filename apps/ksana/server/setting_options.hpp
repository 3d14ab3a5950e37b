#pragma once

#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/server/settings/settings.hpp"

namespace ksana::app {

// --config and one option for every setting of the server, for the commands that run it or look at
// how it would run.
std::vector<OptionSpec> SettingOptions();

// The inputs of LoadSettings: what the options say, the environment, and how files are read.
server::SettingInputs SettingInputsOf(const Arguments& arguments, const Process& process);

}  // namespace ksana::app
