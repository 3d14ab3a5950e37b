#include "apps/ksana/toolkit/command_line.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/help.hpp"
#include "ksana/base/error/check.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::app {
namespace {

Error Usage(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

std::string DidYouMean(std::string_view word, std::span<const std::string_view> known,
                       std::string_view prefix = "") {
    const auto meant = Nearest(word, known);
    return meant ? fmt::format("; did you mean {}{}?", prefix, *meant) : "";
}

const OptionSpec* FindOption(std::span<const OptionSpec> options, std::string_view name,
                             bool is_long) {
    for (const OptionSpec& option : options) {
        if (is_long ? option.name == name : option.letter != '\0' && option.letter == name[0]) {
            return &option;
        }
    }
    return nullptr;
}

// Parses the tokens of one command. Lives on the stack of ParseArguments.
class Parser {
  public:
    Parser(const Command& command, std::span<const std::string> tokens)
        : command_(command), options_(OptionsOf(command)), tokens_(tokens) {}

    Result<Arguments> Run() {
        for (const OptionSpec& option : options_) {
            values_[option.name].text = option.default_value;
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
        if (words_.size() < command_.word_count ||
            words_.size() > command_.word_count + command_.optional_words) {
            return WrongWords();
        }
        return Arguments(std::move(values_), std::move(words_));
    }

  private:
    Error WrongWords() const {
        if (words_.size() < command_.word_count) {
            return Usage(fmt::format("{} is missing", command_.words));
        }
        const std::size_t most = command_.word_count + command_.optional_words;
        if (most != 1 || command_.asks_server) {
            return Usage(fmt::format("unexpected word \"{}\"", Excerpt(words_[most], 80)));
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
            for (const OptionSpec& o : options_) known.push_back(o.name);
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
        Arguments::Value& kept = values_[option->name];
        if (!kept.given.empty() && !option->repeated) {
            return Usage(fmt::format("--{} is given twice", option->name));
        }
        const auto& choices = option->choices;
        if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end()) {
            return Usage(fmt::format("--{} cannot be \"{}\"{} (one of {})", option->name,
                                     Excerpt(value, 80), DidYouMean(value, choices),
                                     ChoicesText(*option)));
        }
        kept.text = value;
        kept.given.push_back(std::move(value));
        return {};
    }

    const OptionSpec* Find(std::string_view name, bool is_long) const {
        return FindOption(options_, name, is_long);
    }

    const Command& command_;
    const std::vector<OptionSpec> options_;
    std::span<const std::string> tokens_;
    std::size_t next_ = 0;
    Arguments::Values values_;
    std::vector<std::string> words_;
};

bool IsHelp(const std::string& token) { return token == "--help" || token == "-h"; }

// Returns whether the first token of a line asks for help, as an option or as a word.
bool AsksForHelp(const std::string& token) { return IsHelp(token) || token == "help"; }

// Returns whether the tokens begin with the words of `path`.
bool MatchesPath(std::string_view path, std::span<const std::string> tokens) {
    std::size_t count = 0;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find(' '), path.size());
        if (count == tokens.size() || tokens[count] != path.substr(0, end)) return false;
        ++count;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return true;
}

auto FindCommand(std::span<const Command> commands, std::span<const std::string> tokens) {
    return std::find_if(commands.begin(), commands.end(), [tokens](const Command& command) {
        return MatchesPath(command.path, tokens);
    });
}

// `rest` holds the tokens after the command's path.
int RunCommand(const Command& command, std::span<const std::string> rest, Output& output) {
    const auto options_end = std::find(rest.begin(), rest.end(), "--");
    if (std::any_of(rest.begin(), options_end, IsHelp)) {
        output.out += CommandHelp(command);
        return kExitOk;
    }
    const auto arguments = ParseArguments(command, rest);
    if (!arguments) {
        output.err += fmt::format("ksana: {}\nTry: ksana {} --help\n", arguments.error().message,
                                  command.path);
        return kExitUsage;
    }
    return command.run(*arguments, output);
}

// Counts the leading tokens that are shared options or their values.
std::size_t CountLeadingOptions(std::span<const std::string> tokens) {
    const std::vector<OptionSpec> shared = ApiOptions();
    std::size_t count = 0;
    while (count < tokens.size() && tokens[count].size() > 1 && tokens[count][0] == '-') {
        const std::string& token = tokens[count];
        const bool is_long = token.starts_with("--");
        const std::size_t equals = is_long ? token.find('=') : std::string::npos;
        const std::string name = is_long ? token.substr(2, equals - 2) : token.substr(1, 1);
        const OptionSpec* option = FindOption(shared, name, is_long);
        if (option == nullptr) break;
        const bool whole = option->value_name.empty() || equals != std::string::npos ||
                           (!is_long && token.size() > 2);
        count += whole ? 1 : 2;
    }
    return std::min(count, tokens.size());
}

// Turns "jobs" into "job" if "job" is a noun of the table and "jobs" is not.
std::string NounOf(std::span<const Command> commands, const std::string& word) {
    if (!word.ends_with('s')) return word;
    const std::string noun = word.substr(0, word.size() - 1);
    const auto is_of = [&](const std::string& name) {
        return std::any_of(commands.begin(), commands.end(), [&](const Command& command) {
            return command.path == name || command.path.starts_with(name + " ");
        });
    };
    return !is_of(word) && is_of(noun) ? noun : word;
}

// Replaces aliases: `run show` becomes `run get`, `job apply` becomes `apply`, `worker --slots 4`
// becomes `worker run --slots 4`.
void Understand(std::span<const Command> commands, std::vector<std::string>& said) {
    said[0] = NounOf(commands, said[0]);
    if (said.size() < 2 || FindCommand(commands, said) != commands.end()) return;
    std::vector<std::string> meant = said;
    if (said[1] == "show") meant[1] = "get";
    if (said[0] == "job" && said[1] == "apply") meant.erase(meant.begin());
    if (said[0] == "worker" && said[1].starts_with('-') && !IsHelp(said[1])) {
        meant.insert(meant.begin() + 1, "run");
    }
    if (FindCommand(commands, meant) != commands.end()) said = std::move(meant);
}

// Reports that the tokens name no command and suggests the nearest one. For a noun alone, prints
// the help of its verbs.
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

const Arguments::Value& Arguments::Of(std::string_view option) const {
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

bool Output::Flush() {
    if (!sink) return true;
    const bool arrived = sink(out, err);
    out.clear();
    err.clear();
    return arrived;
}

std::vector<OptionSpec> SharedOptionsOf(const Command& command) {
    std::vector<OptionSpec> shared = ApiOptions();
    std::erase_if(shared, [&](const OptionSpec& option) {
        return std::ranges::find(command.options, option.name, &OptionSpec::name) !=
               command.options.end();
    });
    return shared;
}

std::vector<OptionSpec> OptionsOf(const Command& command) {
    std::vector<OptionSpec> options = command.options;
    if (command.asks_server) {
        for (OptionSpec& option : SharedOptionsOf(command)) options.push_back(std::move(option));
    }
    return options;
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
    const std::size_t leading = CountLeadingOptions(tokens);
    std::vector<std::string> said(tokens.begin() + static_cast<std::ptrdiff_t>(leading),
                                  tokens.end());
    if (said.empty()) {
        output.err += "ksana: a command is missing\nTry: ksana --help\n";
        return kExitUsage;
    }
    Understand(commands, said);
    const auto command = FindCommand(commands, said);
    if (command == commands.end()) return UnknownCommand(commands, said, output);
    const auto words = std::count(command->path.begin(), command->path.end(), ' ') + 1;
    // Leading options move behind the command's path, so that a usage error names the command.
    said.erase(said.begin(), said.begin() + words);
    said.insert(said.begin(), tokens.begin(),
                tokens.begin() + static_cast<std::ptrdiff_t>(leading));
    return RunCommand(*command, said, output);
}

}  // namespace ksana::app
