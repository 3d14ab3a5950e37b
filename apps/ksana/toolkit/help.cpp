#include "apps/ksana/toolkit/help.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "apps/ksana/toolkit/api_options.hpp"

namespace ksana::app {
namespace {

std::string OptionLeft(const OptionSpec& option) {
    const std::string letter = option.letter == '\0' ? "    " : fmt::format("-{}, ", option.letter);
    return fmt::format("  {}--{}{}{}", letter, option.name, option.value_name.empty() ? "" : " ",
                       option.value_name);
}

std::string OptionRight(const OptionSpec& option) {
    std::string text(option.help);
    if (!option.choices.empty()) text += ": " + ChoicesText(option);
    if (!option.default_value.empty()) text += fmt::format(" [{}]", option.default_value);
    return text;
}

constexpr std::size_t kColumns = 80;

// Formats two columns; text that does not fit the second column continues below it.
std::string Row(const std::string& left, std::size_t width, std::string_view right) {
    std::string text = fmt::format("{:<{}}  ", left, width);
    const std::size_t room = kColumns - std::min(kColumns - 20, width + 2);
    while (right.size() > room) {
        std::size_t end = right.rfind(' ', room);
        if (end == std::string_view::npos || end == 0)
            end = std::min(right.find(' '), right.size());
        text += fmt::format("{}\n{:<{}}", right.substr(0, end), "", width + 2);
        right.remove_prefix(std::min(end + 1, right.size()));
    }
    return fmt::format("{}{}\n", text, right);
}

std::string CommandList(std::span<const Command> commands, std::string_view prefix) {
    std::size_t width = 0;
    for (const Command& command : commands) {
        if (command.path.starts_with(prefix)) width = std::max(width, command.path.size());
    }
    std::string text;
    for (const Command& command : commands) {
        if (!command.path.starts_with(prefix)) continue;
        text += Row(fmt::format("  {}", command.path), width + 2, command.summary);
    }
    return text;
}

// Lists each noun once with its verbs: a list of all commands would fill a page.
std::string NounList(std::span<const Command> commands) {
    struct Line {
        std::string_view name;
        std::string right;
    };
    std::vector<Line> lines;
    std::size_t width = 0;
    for (const Command& command : commands) {
        const std::size_t space = command.path.find(' ');
        const std::string_view name = command.path.substr(0, space);
        width = std::max(width, name.size());
        if (space == std::string_view::npos) {
            lines.push_back({name, std::string(command.summary)});
            continue;
        }
        const std::string verb(command.path.substr(space + 1));
        const auto same = [name](const Line& line) { return line.name == name; };
        const auto found = std::find_if(lines.begin(), lines.end(), same);
        if (found == lines.end()) {
            lines.push_back({name, verb});
        } else {
            found->right += ", " + verb;
        }
    }
    std::string text;
    for (const Line& line : lines)
        text += Row(fmt::format("  {}", line.name), width + 2, line.right);
    return text;
}

std::string OptionRows(std::span<const OptionSpec> options) {
    std::size_t width = 0;
    for (const OptionSpec& option : options) width = std::max(width, OptionLeft(option).size());
    std::string text;
    for (const OptionSpec& option : options) {
        text += Row(OptionLeft(option), width, OptionRight(option));
    }
    return text;
}

}  // namespace

std::string ChoicesText(const OptionSpec& option) {
    std::string text;
    for (const std::string_view choice : option.choices) {
        text += text.empty() ? "" : ", ";
        text += choice;
    }
    return text;
}

std::string GeneralHelp(std::span<const Command> commands) {
    return fmt::format(
        "Ksana: a job scheduler and task queue.\n\n"
        "Usage: ksana COMMAND [OPTIONS] ...\n\nCommands:\n{}\n"
        "  ksana COMMAND --help   explains one command, or lists its verbs\n"
        "  ksana --version        prints the version\n\n"
        "Exit codes: 0 done, 1 failed, 2 wrong usage or input, 3 not found or never,\n"
        "4 not allowed, 5 conflict, 6 not reachable or in use, 7 the watched run did not\n"
        "succeed, 8 pending, 124 timed out, 130 interrupted.\n",
        NounList(commands));
}

std::string GroupHelp(std::span<const Command> commands, std::string_view group) {
    return fmt::format(
        "Usage: ksana {} COMMAND [OPTIONS] ...\n\nCommands:\n{}\n"
        "  ksana {} COMMAND --help   explains one command\n",
        group, CommandList(commands, std::string(group) + " "), group);
}

std::string CommandHelp(const Command& command) {
    // A command that asks a server takes ids. Other words, such as a cron expression, may begin
    // with a dash and need "--".
    const std::string_view before_words = command.asks_server ? " " : " -- ";
    std::string text = fmt::format("Usage: ksana {} [OPTIONS]{}{}\n\n{}.\n\n{}", command.path,
                                   command.words.empty() ? "" : before_words, command.words,
                                   command.summary, command.details);
    if (!command.options.empty() || !command.asks_server) {
        text += fmt::format("{}Options:\n{}", text.ends_with("\n\n") ? "" : "\n",
                            OptionRows(command.options));
    }
    if (command.asks_server) {
        text += fmt::format("{}Shared options:\n{}", text.ends_with("\n\n") ? "" : "\n",
                            OptionRows(SharedOptionsOf(command)));
    }
    return text;
}

std::string VersionText() { return fmt::format("ksana {}\n", KSANA_VERSION); }

}  // namespace ksana::app
