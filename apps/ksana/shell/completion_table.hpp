#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"

namespace ksana::app {

// What a shell can complete at one place, derived from the table of commands alone.
struct Offer {
    enum class Kind : std::uint8_t {
        kNothing,  // no value: a switch, or a command without words
        kAny,      // a value that cannot be completed
        kWords,
        kFiles,
        kFolders,
        kNames,  // the output of `ksana NOUN list -o name`
    };
    Kind kind = Kind::kNothing;
    std::vector<std::string> words;
    std::string noun;
    friend bool operator==(const Offer&, const Offer&) = default;
};

// The words that may follow a path: after "" the nouns, after "cron" its verbs.
struct Branch {
    struct Word {
        std::string word;
        std::string summary;  // for a noun: its verbs
    };
    std::string path;
    std::vector<Word> words;
};

std::vector<Branch> BranchesOf(std::span<const Command> commands);

Offer OfferOfOption(std::span<const Command> commands, const OptionSpec& option);
// Returns what can complete the words after the options: "FILE", "ID", "bash|zsh|fish",
// "[COMMAND]".
Offer OfferOfWords(std::span<const Command> commands, const Command& command);

// The options that may precede every command, and whether an option selects the server.
std::vector<OptionSpec> LeadingOptions();
bool IsOfConnection(std::string_view option);

// Encodes an offer as one text for a script: "words a b", "files", "folders", "names job", "any";
// "" for nothing.
std::string OfferText(const Offer& offer);

// Completion scripts. Each calls ksana for names, with a timeout of two seconds.
std::string BashCompletion(std::span<const Command> commands);
std::string ZshCompletion(std::span<const Command> commands);
std::string FishCompletion(std::span<const Command> commands);

}  // namespace ksana::app
