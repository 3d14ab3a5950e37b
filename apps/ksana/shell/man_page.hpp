#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"

namespace ksana::app {

// A manual page made from the table of commands, in roff (man macros).
struct ManPage {
    std::string name;  // "ksana", "ksana-cron"; the file is NAME.1
    std::string text;
};

// Returns one page for the program and one for each first word of a command.
std::vector<ManPage> ManPages(std::span<const Command> commands);

// Example command lines; the first word decides their page. A test parses each with the table of
// commands.
struct ManExample {
    std::string_view line;  // without the leading "ksana "
    std::string_view purpose;
};
std::span<const ManExample> ManExamples();

}  // namespace ksana::app
