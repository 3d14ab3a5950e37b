#include "ksana/command_line.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "ksana/base/check.hpp"
#include "ksana/base/nearest.hpp"
#include "ksana/base/utf8.hpp"
#include "ksana/help.hpp"

namespace ksana::app {
namespace {

Error Usage(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

std::string DidYouMean(std::string_view word, std::span<const std::string_view> known,
                       std::string_view prefix = "") {
    const auto meant = Nearest(word, known);
    return meant ? fmt::format("; did you mean {}{}?", prefix, *meant) : "";
}

class Parser {
  public:
    Parser(const Command& command, std::span<const std::string> tokens)
        : command_(command), tokens_(tokens) {}

    Result<Arguments> Run() {
        for (const OptionSpec& option : command_.options) {
            values_[option.name] = option.default_value;
        }
        bool options_over = false;
        while (next_ < tokens_.size()) {
            const std::string& token = tokens_[next_++];
            if (!options_over && token == "--") {
                options_over = true;
            } else if (!options_over && token.size() > 1 && token[0] == '-') {
                KSANA_TRY_VOID(Option(token));
            } else {
                words_.push_back(token);
            }
        }
        const std::size_t most = command_.word_count + command_.optional_words;
        if (words_.size() < command_.word_count || words_.size() > most) return WrongWords();
        return Arguments(std::move(values_), std::move(words_));
    }

  private:
    Error WrongWords() const {
        if (words_.size() < command_.word_count) {
            return Usage(fmt::format("{} is missing", command_.words));
        }
        if (command_.word_count == 0 && command_.optional_words == 0) {
            return Usage(fmt::format("unexpected word \"{}\"", Excerpt(words_[0], 80)));
        }
        if (command_.word_count + command_.optional_words > 1) {
            return Usage(fmt::format("too many words: {} is all", command_.words));
        }
        // An unquoted cron expression arrives as several words.
        return Usage(
            fmt::format("too many words: {} is one argument; put it in quotes", command_.words));
    }

    Result<void> Option(const std::string& token) {
        const bool is_long = token.starts_with("--");
        const std::size_t equals = is_long ? token.find('=') : std::string::npos;
        const std::string name = is_long ? token.substr(2, equals - 2) : token.substr(1, 1);
        const OptionSpec* option = Find(name, is_long);
        if (option == nullptr) {
            std::vector<std::string_view> known;
            for (const OptionSpec& o : command_.options) known.push_back(o.name);
            return Usage(fmt::format("unknown option {}{}", Excerpt(token, 80),
                                     is_long ? DidYouMean(name, known, "--") : ""));
        }
        const bool is_switch = option->value_name.empty();
        if (is_switch && (equals != std::string::npos || (!is_long && token.size() > 2))) {
            return Usage(fmt::format("--{} takes no value", option->name));
        }
        std::string value;
        if (is_switch) {
            value = "on";
        } else if (equals != std::string::npos) {
            value = token.substr(equals + 1);
        } else if (!is_long && token.size() > 2) {
            value = token.substr(2);
        } else if (next_ < tokens_.size()) {
            value = tokens_[next_++];
        } else {
            return Usage(fmt::format("--{} needs a value: {}", option->name, option->value_name));
        }
        if (std::find(given_.begin(), given_.end(), option) != given_.end()) {
            return Usage(fmt::format("--{} is given twice", option->name));
        }
        given_.push_back(option);
        const auto& choices = option->choices;
        if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end()) {
            return Usage(fmt::format("--{} cannot be \"{}\"{} (one of {})", option->name,
                                     Excerpt(value, 80), DidYouMean(value, choices),
                                     ChoicesText(*option)));
        }
        values_[option->name] = std::move(value);
        return {};
    }

    const OptionSpec* Find(std::string_view name, bool is_long) const {
        for (const OptionSpec& option : command_.options) {
            if (is_long ? option.name == name : option.letter != '\0' && option.letter == name[0]) {
                return &option;
            }
        }
        return nullptr;
    }

    const Command& command_;
    std::span<const std::string> tokens_;
    std::size_t next_ = 0;
    std::map<std::string_view, std::string> values_;
    std::vector<std::string> words_;
    std::vector<const OptionSpec*> given_;
};

bool IsHelp(const std::string& token) { return token == "--help" || token == "-h"; }

// At the front of a line: the option, or the word.
bool AsksForHelp(const std::string& token) { return IsHelp(token) || token == "help"; }

// How many words of a path the tokens start with; nothing when they differ.
std::optional<std::size_t> MatchPath(std::string_view path, std::span<const std::string> tokens) {
    std::size_t count = 0;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find(' '), path.size());
        if (count == tokens.size() || tokens[count] != path.substr(0, end)) return std::nullopt;
        ++count;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return count;
}

// The tokens name no command: say so, with the nearest one.
int UnknownCommand(std::span<const Command> commands, std::span<const std::string> tokens,
                   Output& output) {
    std::string group;
    for (const Command& command : commands) {
        if (command.path.starts_with(tokens[0] + " ")) group = tokens[0];
    }
    if (!group.empty() && (tokens.size() == 1 || IsHelp(tokens[1]))) {
        const bool asked = tokens.size() > 1;
        (asked ? output.out : output.err) += GroupHelp(commands, group);
        return asked ? kExitOk : kExitUsage;
    }
    std::vector<std::string_view> known;
    for (const Command& command : commands) {
        const std::size_t space = command.path.find(' ');
        if (group.empty()) {
            known.push_back(command.path.substr(0, space));
        } else if (command.path.starts_with(group + " ")) {
            known.push_back(command.path.substr(space + 1));
        }
    }
    const std::string& word = group.empty() ? tokens[0] : tokens[1];
    output.err +=
        fmt::format("ksana: unknown command \"{}\"{}\nTry: ksana{} --help\n", Excerpt(word, 80),
                    DidYouMean(word, known), group.empty() ? "" : " " + group);
    return kExitUsage;
}

}  // namespace

const std::string& Arguments::Get(std::string_view option) const {
    const auto found = values_.find(option);
    KSANA_CHECK(found != values_.end(), "an option that is not in the command's table");
    return found->second;
}

Result<int> Arguments::GetNumber(std::string_view option, int low, int high) const {
    const std::string& text = Get(option);
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
        return Usage(fmt::format("--{} must be a whole number from {} to {}", option, low, high));
    }
    return value;
}

int Fail(const Error& error, Output& output) {
    output.err += fmt::format("ksana: {}\n", error.Describe());
    return Info(error.code).exit_code;
}

Result<Arguments> ParseArguments(const Command& command, std::span<const std::string> tokens) {
    return Parser(command, tokens).Run();
}

int RunCommandLine(std::span<const Command> commands, std::span<const std::string> tokens,
                   Output& output) {
    if (tokens.empty()) {
        output.err += GeneralHelp(commands);
        return kExitUsage;
    }
    if (AsksForHelp(tokens[0])) {
        const auto topic = std::find_if_not(tokens.begin(), tokens.end(), AsksForHelp);
        if (topic == tokens.end()) {
            output.out += GeneralHelp(commands);
            return kExitOk;
        }
        std::vector<std::string> turned(topic, tokens.end());
        turned.emplace_back("--help");
        return RunCommandLine(commands, turned, output);
    }
    if (tokens[0] == "--version" || tokens[0] == "-V") {
        output.out += VersionText();
        return kExitOk;
    }
    for (const Command& command : commands) {
        const auto matched = MatchPath(command.path, tokens);
        if (!matched) continue;
        const auto rest = tokens.subspan(*matched);
        const auto options_end = std::find(rest.begin(), rest.end(), "--");
        if (std::any_of(rest.begin(), options_end, IsHelp)) {
            output.out += CommandHelp(command);
            return kExitOk;
        }
        const auto arguments = ParseArguments(command, rest);
        if (!arguments) {
            output.err += fmt::format("ksana: {}\nTry: ksana {} --help\n",
                                      arguments.error().message, command.path);
            return kExitUsage;
        }
        return command.run(*arguments, output);
    }
    return UnknownCommand(commands, tokens, output);
}

}  // namespace ksana::app
