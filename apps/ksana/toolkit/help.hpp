#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/ksana/toolkit/command_line.hpp"

namespace ksana::app {

// Help texts generated from the table of commands, at most 80 columns wide.
std::string GeneralHelp(std::span<const Command> commands);
std::string GroupHelp(std::span<const Command> commands, std::string_view group);
std::string CommandHelp(const Command& command);
std::string VersionText();

// Joins the choices of an option: "or, and".
std::string ChoicesText(const OptionSpec& option);

}  // namespace ksana::app
