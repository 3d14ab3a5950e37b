#include <fmt/core.h>

#include "apps/ksana/shell/completion_script.hpp"
#include "apps/ksana/shell/completion_table.hpp"

namespace ksana::app {
namespace {

constexpr std::string_view kBashRest = R"sh(
_ksana_offer() {
    local current=$1
    case ${reply%% *} in
    words) mapfile -t COMPREPLY < <(compgen -W "${reply#words}" -- "$current") ;;
    files) mapfile -t COMPREPLY < <(compgen -f -- "$current"); compopt -o filenames 2>/dev/null ;;
    folders) mapfile -t COMPREPLY < <(compgen -d -- "$current"); compopt -o filenames 2>/dev/null ;;
    names)
        # The server says; one that is slow or away must not hold up the terminal.
        mapfile -t COMPREPLY < <(compgen -W "$(timeout 2 "${COMP_WORDS[0]}" "${reply#names }" \
            list -o name "${connection[@]}" 2>/dev/null </dev/null | head -n 500)" -- "$current")
        ;;
    esac
}

_ksana() {
    local current=${COMP_WORDS[COMP_CWORD]} at= option= over= reply= word i
    local connection=()
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ -n $option ]]; then
            # --gap=skip arrives as three words.
            [[ $word != = ]] || continue
            ! _ksana_connects "$option" || connection+=("$option" "$word")
            option=
        elif [[ -z $over && $word == -- ]]; then
            over=1
        elif [[ -z $over && $word == -* ]]; then
            _ksana_value "$at" "$word"
            [[ -z $reply ]] || option=$word
        else
            _ksana_words "$at"
            [[ " $reply " != *" $word "* ]] || at=${at:+$at }$word
        fi
    done
    [[ $current != = ]] || current=
    if [[ -n $option ]]; then
        _ksana_value "$at" "$option"
        _ksana_offer "$current"
        return
    fi
    if [[ -z $over && $current == -* ]]; then
        _ksana_options "$at"
        mapfile -t COMPREPLY < <(compgen -W "$reply" -- "$current")
        return
    fi
    _ksana_words "$at"
    if [[ -n $reply ]]; then reply="words $reply"; else _ksana_argument "$at"; fi
    _ksana_offer "$current"
}

complete -F _ksana ksana
)sh";

// The words of the table hold no quotes and no blanks, so they need no escaping.
std::string Item(std::string_view word, std::string_view) { return fmt::format(" {}", word); }

}  // namespace

std::string BashCompletion(std::span<const Command> commands) {
    return "# bash completion of ksana, written by: ksana completion bash\n" +
           ScriptTables(commands, {.open = "'", .close = "'", .nothing = "", .item = Item})
               .append(kBashRest);
}

}  // namespace ksana::app
