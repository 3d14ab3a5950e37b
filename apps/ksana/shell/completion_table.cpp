#include "apps/ksana/shell/completion_table.hpp"

#include <algorithm>

#include "apps/ksana/toolkit/api_options.hpp"
#include "ksana/base/text/names.hpp"

namespace ksana::app {
namespace {

bool HasOption(const Command& command, std::string_view name, std::string_view choice) {
    return std::ranges::any_of(OptionsOf(command), [&](const OptionSpec& option) {
        return option.name == name && std::ranges::count(option.choices, choice) > 0;
    });
}

// Returns whether the command `NOUN list -o name` exists.
bool CanBeListed(std::span<const Command> commands, const std::string& noun) {
    const std::string path = noun + " list";
    return std::ranges::any_of(commands, [&](const Command& command) {
        return command.path == path && HasOption(command, "output", "name");
    });
}

std::vector<std::string> Split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        if (end > 0) parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

Offer OfferOfName(std::span<const Command> commands, std::string_view name) {
    if (name.starts_with("FILE")) return {Offer::Kind::kFiles, {}, ""};
    if (name == "FOLDER" || name == "DIR") return {Offer::Kind::kFolders, {}, ""};
    if (std::string noun = LowerText(name); CanBeListed(commands, noun)) {
        return {Offer::Kind::kNames, {}, std::move(noun)};
    }
    return {Offer::Kind::kAny, {}, ""};
}

void AddWord(std::vector<Branch>& branches, std::string_view path, std::string word,
             std::string summary) {
    auto branch = std::ranges::find(branches, path, &Branch::path);
    if (branch == branches.end()) {
        branches.push_back({std::string(path), {}});
        branch = branches.end() - 1;
    }
    const auto known = std::ranges::find(branch->words, word, &Branch::Word::word);
    if (known == branch->words.end()) {
        branch->words.push_back({std::move(word), std::move(summary)});
    } else {
        known->summary += ", " + summary;
    }
}

}  // namespace

std::vector<Branch> BranchesOf(std::span<const Command> commands) {
    std::vector<Branch> branches;
    for (const Command& command : commands) {
        const std::size_t space = command.path.find(' ');
        const std::string first(command.path.substr(0, space));
        if (space == std::string_view::npos) {
            AddWord(branches, "", first, std::string(command.summary));
            continue;
        }
        std::string verb(command.path.substr(space + 1));
        AddWord(branches, "", first, verb);
        AddWord(branches, first, std::move(verb), std::string(command.summary));
    }
    return branches;
}

Offer OfferOfOption(std::span<const Command> commands, const OptionSpec& option) {
    if (option.value_name.empty()) return {};
    if (!option.choices.empty()) {
        return {Offer::Kind::kWords, {option.choices.begin(), option.choices.end()}, ""};
    }
    return OfferOfName(commands, option.value_name);
}

Offer OfferOfWords(std::span<const Command> commands, const Command& command) {
    std::string_view words = command.words;
    while (words.starts_with('[')) words.remove_prefix(1);
    const std::string name(words.substr(0, words.find_first_of(" ].")));
    if (name.empty()) return {};
    const std::string noun(command.path.substr(0, command.path.find(' ')));
    if (name == "COMMAND") {
        Offer offer{Offer::Kind::kWords, {}, ""};
        for (const Branch& branch : BranchesOf(commands)) {
            if (!branch.path.empty()) continue;
            for (const Branch::Word& word : branch.words) offer.words.push_back(word.word);
        }
        return offer;
    }
    if (name == LowerText(name)) return {Offer::Kind::kWords, Split(name, '|'), ""};
    if ((name == "ID" || name == "NAME") && CanBeListed(commands, noun)) {
        return {Offer::Kind::kNames, {}, noun};
    }
    return OfferOfName(commands, name);
}

std::vector<OptionSpec> LeadingOptions() { return ApiOptions(); }

bool IsOfConnection(std::string_view option) {
    return option == "server" || option == "token-file" || option == "ca-file";
}

std::string OfferText(const Offer& offer) {
    switch (offer.kind) {
        case Offer::Kind::kNothing:
            break;
        case Offer::Kind::kAny:
            return "any";
        case Offer::Kind::kFiles:
            return "files";
        case Offer::Kind::kFolders:
            return "folders";
        case Offer::Kind::kNames:
            return "names " + offer.noun;
        case Offer::Kind::kWords: {
            std::string text = "words";
            for (const std::string& word : offer.words) text += " " + word;
            return text;
        }
    }
    return "";
}

}  // namespace ksana::app
