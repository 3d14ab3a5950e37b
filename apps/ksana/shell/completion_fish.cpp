#include <fmt/core.h>

#include "apps/ksana/shell/completion_table.hpp"

namespace ksana::app {
namespace {

constexpr std::string_view kWalk = R"sh(
# The words of the command so far, without options and their values.
function __ksana_at
    set -l at
    set -l value
    for word in (commandline -opc)[2..]
        if test -n "$value"
            set value
        else if test "$word" = --
            break
        else if string match -q -- '-*' $word
            __ksana_takes_value "$at" $word; and set value 1
        else if contains -- $word (__ksana_words "$at")
            set at $at $word
        end
    end
    echo "$at"
end

function __ksana_is
    test (__ksana_at) = "$argv"
end

# How the server that the line names is reached.
function __ksana_server
    set -l words (commandline -opc)
    for i in (seq 2 (count $words))
        switch $words[$i]
            case --server --token-file --ca-file
                test $i -lt (count $words); and printf '%s\n' $words[$i] $words[(math $i + 1)]
            case '--server=*' '--token-file=*' '--ca-file=*'
                printf '%s\n' $words[$i]
        end
    end
end

# The server says; one that is slow or away must not hold up the terminal.
function __ksana_names
    timeout 2 (commandline -opc)[1] $argv list -o name (__ksana_server) 2>/dev/null </dev/null |
        head -n 500
end

complete -c ksana -f
complete -c ksana -n '__ksana_is ""' -l help -d 'explains it'
complete -c ksana -n '__ksana_is ""' -l version -d 'prints the version'
)sh";

std::string Quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted + "'";
}

std::string Words(const Offer& offer) {
    std::string text;
    for (const std::string& word : offer.words) text += (text.empty() ? "" : " ") + word;
    return text;
}

// Returns the flags of `complete` for an offer.
std::string Offered(const Offer& offer) {
    switch (offer.kind) {
        case Offer::Kind::kNothing:
            break;
        case Offer::Kind::kAny:
            return " -x";
        case Offer::Kind::kWords:
            return " -x -a " + Quoted(Words(offer));
        case Offer::Kind::kFiles:
            return " -r -F";
        case Offer::Kind::kFolders:
            return " -x -a '(__fish_complete_directories)'";
        case Offer::Kind::kNames:
            return fmt::format(" -x -a '(__ksana_names {})'", offer.noun);
    }
    return "";
}

std::string OptionLine(std::span<const Command> commands, const Command& command,
                       const OptionSpec& option) {
    return fmt::format("complete -c ksana -n '__ksana_is {}' -l {}{}{} -d {}\n", command.path,
                       option.name,
                       option.letter == '\0' ? "" : fmt::format(" -s {}", option.letter),
                       Offered(OfferOfOption(commands, option)), Quoted(option.help));
}

std::string Switch(std::string_view name, const std::string& cases) {
    return fmt::format("\nfunction {}\n    switch \"$argv\"\n{}    end\nend\n", name, cases);
}

}  // namespace

std::string FishCompletion(std::span<const Command> commands) {
    std::string words;
    std::string lines;
    for (const Branch& branch : BranchesOf(commands)) {
        words += fmt::format("    case '{}'\n        printf '%s\\n'", branch.path);
        for (const Branch::Word& word : branch.words) {
            words += " " + word.word;
            lines += fmt::format("complete -c ksana -n '__ksana_is \"{}\"' -a {} -d {}\n",
                                 branch.path, word.word, Quoted(word.summary));
        }
        words += "\n";
    }
    std::string valued;
    for (const Command& command : commands) {
        for (const OptionSpec& option : OptionsOf(command)) {
            lines += OptionLine(commands, command, option);
            if (option.value_name.empty()) continue;
            valued += fmt::format("    case '{} --{}'", command.path, option.name);
            if (option.letter != '\0') {
                valued += fmt::format(" '{} -{}'", command.path, option.letter);
            }
            valued += "\n        return 0\n";
        }
        const Offer offer = OfferOfWords(commands, command);
        if (offer.kind == Offer::Kind::kNothing || offer.kind == Offer::Kind::kAny) continue;
        std::string flags = Offered(offer);
        flags.erase(0, 3);  // -x and -r apply to options only
        lines += fmt::format("complete -c ksana -n '__ksana_is {}'{}\n", command.path, flags);
    }
    valued += "    case '*'\n        return 1\n";
    std::string text = "# fish completion of ksana, written by: ksana completion fish\n";
    text += Switch("__ksana_words", words);
    text += Switch("__ksana_takes_value", valued);
    return text.append(kWalk).append(lines);
}

}  // namespace ksana::app
