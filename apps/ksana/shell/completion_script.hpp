#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/ksana/toolkit/command_line.hpp"

namespace ksana::app {

// In what bash and zsh differ where a function answers in `reply`.
struct ScriptDialect {
    std::string_view open;  // of a reply: a quote, or the bracket of an array
    std::string_view close;
    std::string_view nothing;  // an empty reply
    // A word that is offered, with a blank in front.
    std::string (*item)(std::string_view word, std::string_view summary);
};

// The table of commands as functions of a shell: _ksana_words, _ksana_options and _ksana_argument
// of a command, _ksana_value of a command and its option, and _ksana_connects of an option.
std::string ScriptTables(std::span<const Command> commands, const ScriptDialect& dialect);

}  // namespace ksana::app
