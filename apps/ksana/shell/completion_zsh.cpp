#include <fmt/core.h>

#include "apps/ksana/shell/completion_script.hpp"
#include "apps/ksana/shell/completion_table.hpp"

namespace ksana::app {
namespace {

constexpr std::string_view kZshRest = R"sh(
_ksana_offer() {
    case ${reply[1]} in
    words) compadd -- ${reply[2,-1]} ;;
    files) _files ;;
    folders) _files -/ ;;
    names)
        # The server says; one that is slow or away must not hold up the terminal.
        compadd -- ${(f)"$(timeout 2 ${words[1]} ${reply[2]} list -o name $connection 2>/dev/null \
            </dev/null | head -n 500)"}
        ;;
    *) _message 'a value' ;;
    esac
}

_ksana() {
    local at= option= over= word i
    local -a reply connection
    for ((i = 2; i < CURRENT; i++)); do
        word=${words[i]}
        if [[ -n $option ]]; then
            ! _ksana_connects $option || connection+=($option $word)
            option=
        elif [[ -z $over && $word == -- ]]; then
            over=1
        elif [[ -z $over && $word == -* ]]; then
            _ksana_value "$at" $word
            (( ! $#reply )) || option=$word
        else
            _ksana_words $at
            (( ! ${reply[(I)$word:*]} )) || at=${at:+$at }$word
        fi
    done
    if [[ -z $option && -z $over && $PREFIX == --*=* ]]; then
        option=${PREFIX%%=*}
        compset -P 1 '*='
    fi
    if [[ -n $option ]]; then
        _ksana_value "$at" $option
        _ksana_offer
    elif [[ -z $over && $PREFIX == -* ]]; then
        _ksana_options $at
        _describe option reply
    else
        _ksana_words $at
        if (( $#reply )); then
            _describe command reply
        else
            _ksana_argument $at
            _ksana_offer
        fi
    fi
}

# As a file in $fpath it is the function itself; sourced, it announces it.
if [[ ${funcstack[1]} == _ksana ]]; then _ksana "$@"; else compdef _ksana ksana; fi
)sh";

// Formats 'word:summary', with everything escaped that the shell or _describe would misread.
std::string Described(std::string_view word, std::string_view summary) {
    std::string text;
    for (const char c : summary) {
        if (c == '\'') {
            text += "'\\''";
        } else if (c == ':' || c == '\\') {
            text += std::string("\\") + c;
        } else {
            text += c;
        }
    }
    return fmt::format(" '{}:{}'", word, text);
}

}  // namespace

std::string ZshCompletion(std::span<const Command> commands) {
    return "#compdef ksana\n# zsh completion, written by: ksana completion zsh\n" +
           ScriptTables(commands, {.open = "(", .close = ")", .nothing = "()", .item = Described})
               .append(kZshRest);
}

}  // namespace ksana::app
