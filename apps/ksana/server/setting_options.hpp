#pragma once

#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/server/settings/settings.hpp"

namespace ksana::app {

// --config and one option for every setting of the server, for the commands that start a server or
// check its settings.
std::vector<OptionSpec> SettingOptions();

// Returns the inputs of LoadSettings: the options given, the environment, and the function that
// reads files.
server::SettingInputs SettingInputsOf(const Arguments& arguments, const Process& process);

}  // namespace ksana::app
