#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/ksana/toolkit/command_line.hpp"

namespace ksana::app {

// The syntax in which bash and zsh differ when a function sets `reply`.
struct ScriptDialect {
    std::string_view open;  // start of a reply: a quote, or the bracket of an array
    std::string_view close;
    std::string_view nothing;  // an empty reply
    // Formats a completion word, with a leading blank.
    std::string (*item)(std::string_view word, std::string_view summary);
};

// Returns the table of commands as shell functions: _ksana_words, _ksana_options and
// _ksana_argument take a command, _ksana_value a command and its option, _ksana_connects an option.
std::string ScriptTables(std::span<const Command> commands, const ScriptDialect& dialect);

}  // namespace ksana::app
