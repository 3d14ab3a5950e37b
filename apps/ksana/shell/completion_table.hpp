#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"

namespace ksana::app {

// What a shell can offer in one place, told from the table of commands alone.
struct Offer {
    enum class Kind : std::uint8_t {
        kNothing,  // no value stands here: a switch, or a command without words
        kAny,      // a value that nobody can guess
        kWords,
        kFiles,
        kFolders,
        kNames,  // what `ksana NOUN list -o name` prints
    };
    Kind kind = Kind::kNothing;
    std::vector<std::string> words;
    std::string noun;
    friend bool operator==(const Offer&, const Offer&) = default;
};

// The words that may follow others: after "" the nouns, after "cron" its verbs.
struct Branch {
    struct Word {
        std::string word;
        std::string summary;  // of a noun: its verbs
    };
    std::string path;
    std::vector<Word> words;
};

std::vector<Branch> BranchesOf(std::span<const Command> commands);

Offer OfferOfOption(std::span<const Command> commands, const OptionSpec& option);
// Of what follows the options: "FILE", "ID", "bash|zsh|fish", "[COMMAND]".
Offer OfferOfWords(std::span<const Command> commands, const Command& command);

// The options that may stand in front of every command, and those of them that say which server.
std::vector<OptionSpec> LeadingOptions();
bool IsOfConnection(std::string_view option);

// As one text for a script: "words a b", "files", "folders", "names job", "any"; "" is nothing.
std::string OfferText(const Offer& offer);

// Scripts for the shells; each asks ksana itself for names, for two seconds at most.
std::string BashCompletion(std::span<const Command> commands);
std::string ZshCompletion(std::span<const Command> commands);
std::string FishCompletion(std::span<const Command> commands);

}  // namespace ksana::app
