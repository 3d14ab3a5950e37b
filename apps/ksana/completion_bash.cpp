#include <fmt/core.h>

#include "ksana/completion_table.hpp"

namespace ksana::app {
namespace {

// A function that sets `reply` by its arguments, which a case tells apart.
constexpr std::string_view kRest = R"sh(
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

std::string Function(std::string_view name, std::string_view subject, const std::string& cases) {
    return fmt::format("\n{}() {{\n    reply=\n    case {} in\n{}    esac\n}}\n", name, subject,
                       cases);
}

// The words of a table hold no quotes: they are names of ours.
std::string Case(const std::string& pattern, const std::string& reply) {
    return reply.empty() ? "" : fmt::format("    {}) reply='{}' ;;\n", pattern, reply);
}

}  // namespace

std::string BashCompletion(std::span<const Command> commands) {
    std::string words;
    for (const Branch& branch : BranchesOf(commands)) {
        std::string text;
        for (const Branch::Word& word : branch.words) {
            text += (text.empty() ? "" : " ") + word.word;
        }
        words += Case(fmt::format("'{}'", branch.path), text);
    }
    std::string leading = "--help --version";
    std::string values;
    std::string connects;
    for (const OptionSpec& option : LeadingOptions()) {
        leading += fmt::format(" --{}", option.name);
        values +=
            Case(fmt::format("' --{}'", option.name), OfferText(OfferOfOption(commands, option)));
        if (!IsOfConnection(option.name)) continue;
        connects += fmt::format("{}--{}", connects.empty() ? "" : " | ", option.name);
    }
    std::string options = Case("''", leading);
    std::string arguments;
    for (const Command& command : commands) {
        std::string names;
        for (const OptionSpec& option : OptionsOf(command)) {
            names += fmt::format("--{} ", option.name);
            std::string pattern = fmt::format("'{} --{}'", command.path, option.name);
            if (option.letter != '\0') {
                pattern += fmt::format(" | '{} -{}'", command.path, option.letter);
            }
            values += Case(pattern, OfferText(OfferOfOption(commands, option)));
        }
        options += Case(fmt::format("'{}'", command.path), names + "--help");
        arguments +=
            Case(fmt::format("'{}'", command.path), OfferText(OfferOfWords(commands, command)));
    }
    std::string text = "# bash completion of ksana, written by: ksana completion bash\n";
    text += Function("_ksana_words", "$1", words);
    text += Function("_ksana_options", "$1", options);
    text += Function("_ksana_value", "\"$1 $2\"", values);
    text += Function("_ksana_argument", "$1", arguments);
    text +=
        fmt::format("\n_ksana_connects() {{ case $1 in {}) ;; *) false ;; esac; }}\n", connects);
    return text.append(kRest);
}

}  // namespace ksana::app
