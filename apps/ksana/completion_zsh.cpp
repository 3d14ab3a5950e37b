#include <fmt/core.h>

#include "ksana/completion_table.hpp"

namespace ksana::app {
namespace {

constexpr std::string_view kRest = R"sh(
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

// 'word:what it is', with what a shell or _describe would misread escaped.
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

std::string Function(std::string_view name, std::string_view subject, const std::string& cases) {
    return fmt::format("\n{}() {{\n    reply=()\n    case {} in\n{}    esac\n}}\n", name, subject,
                       cases);
}

std::string Case(const std::string& pattern, std::string reply) {
    if (reply.starts_with(' ')) reply.erase(0, 1);
    return reply.empty() ? "" : fmt::format("    {}) reply=({}) ;;\n", pattern, reply);
}

}  // namespace

std::string ZshCompletion(std::span<const Command> commands) {
    std::string words;
    for (const Branch& branch : BranchesOf(commands)) {
        std::string text;
        for (const Branch::Word& word : branch.words) text += Described(word.word, word.summary);
        words += Case(fmt::format("'{}'", branch.path), text);
    }
    const std::string help = Described("--help", "explains it");
    std::string leading = help + Described("--version", "prints the version");
    std::string values;
    std::string connects;
    for (const OptionSpec& option : LeadingOptions()) {
        leading += Described(fmt::format("--{}", option.name), option.help);
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
            names += Described(fmt::format("--{}", option.name), option.help);
            std::string pattern = fmt::format("'{} --{}'", command.path, option.name);
            if (option.letter != '\0') {
                pattern += fmt::format(" | '{} -{}'", command.path, option.letter);
            }
            values += Case(pattern, OfferText(OfferOfOption(commands, option)));
        }
        options += Case(fmt::format("'{}'", command.path), names + help);
        arguments +=
            Case(fmt::format("'{}'", command.path), OfferText(OfferOfWords(commands, command)));
    }
    std::string text = "#compdef ksana\n# zsh completion, written by: ksana completion zsh\n";
    text += Function("_ksana_words", "\"$1\"", words);
    text += Function("_ksana_options", "\"$1\"", options);
    text += Function("_ksana_value", "\"$1 $2\"", values);
    text += Function("_ksana_argument", "\"$1\"", arguments);
    text +=
        fmt::format("\n_ksana_connects() {{ case $1 in {}) ;; *) false ;; esac; }}\n", connects);
    return text.append(kRest);
}

}  // namespace ksana::app
