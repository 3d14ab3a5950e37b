#include "apps/ksana/shell/man_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/help.hpp"
#include "ksana/base/error/check.hpp"
#include "ksana/server/settings/setting_table.hpp"

namespace ksana::app {
namespace {

struct ExitCode {
    int code;
    std::string_view meaning;
};

constexpr std::array<ExitCode, 11> kExitCodes = {{
    {0, "Done."},
    {1, "Failed: the server or this program could not do it; of doctor: a check failed."},
    {2, "Wrong usage, or an input that is not right; nothing was changed."},
    {3, "Not found; of cron: the expression never fires."},
    {4, "Not allowed, or the token is missing or wrong."},
    {5, "Conflict: something is there already, was changed meanwhile, or is refused by a rule."},
    {6, "The server or the store cannot be reached, or is in use by another process."},
    {7, "The run that was watched did not succeed."},
    {8, "Something is pending (migrate --status), or would change (apply --dry-run)."},
    {124, "Timed out."},
    {130, "Interrupted."},
}};

// Returns the roff escape of one UTF-8 character.
std::string Escaped(std::string_view character) {
    const auto first = static_cast<unsigned char>(character[0]);
    std::uint32_t point = character.size() == 2   ? first & 0x1FU
                          : character.size() == 3 ? first & 0x0FU
                                                  : first & 0x07U;
    for (const char c : character.substr(1)) {
        point = point << 6U | (static_cast<unsigned char>(c) & 0x3FU);
    }
    return fmt::format("\\[u{:04X}]", point);
}

std::size_t LengthOf(char first) {
    const auto byte = static_cast<unsigned char>(first);
    return byte < 0x80U ? 1 : byte < 0xE0U ? 2 : byte < 0xF0U ? 3 : 4;
}

// Escapes one line of text: nothing in it is a roff request, and dashes can be copied.
std::string Roff(std::string_view text) {
    std::string out;
    if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = std::min(LengthOf(text[i]), text.size() - i);
        const char c = text[i];
        if (length > 1) {
            out += Escaped(text.substr(i, length));
        } else if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else if (c == '\'') {
            out += "\\(aq";
        } else if (c == '`') {
            out += "\\(ga";
        } else if (c == '^') {
            out += "\\(ha";
        } else if (c == '~') {
            out += "\\(ti";
        } else {
            out += c;
        }
        i += length;
    }
    return out;
}

// Formats the paragraphs of a command's details. Indented lines stay literal and near the left
// edge, as they may be as wide as a terminal.
std::string Paragraphs(std::string_view text) {
    std::string out;
    bool literal = false;
    bool open = false;  // a paragraph has begun
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const bool wants_literal = line.starts_with("  ");
        if (literal && !wants_literal) {
            out += ".in\n.fi\n";
            open = false;
        }
        if (line.empty()) {
            open = false;
        } else {
            if (wants_literal && !literal) out += ".PP\n.nf\n.in 2n\n";
            if (!wants_literal && !open) out += ".PP\n";
            out += Roff(wants_literal ? line.substr(2) : line) + "\n";
            open = true;
        }
        literal = wants_literal;
    }
    if (literal) out += ".in\n.fi\n";
    return out;
}

std::string OptionText(const OptionSpec& option) {
    std::string text = ".TP\n";
    if (option.letter != '\0') text += fmt::format("\\fB\\-{}\\fR, ", option.letter);
    text += fmt::format("\\fB{}\\fR", Roff(fmt::format("--{}", option.name)));
    if (!option.value_name.empty()) text += fmt::format(" \\fI{}\\fR", Roff(option.value_name));
    std::string help(option.help);
    if (!option.choices.empty()) help += ": " + ChoicesText(option);
    if (!option.default_value.empty()) help += fmt::format(" (default: {})", option.default_value);
    return text + "\n" + Roff(help) + ".\n";
}

std::string Synopsis(const Command& command) {
    std::string text = fmt::format(".B ksana {}\n", Roff(command.path));
    if (!OptionsOf(command).empty()) text += ".RI [ OPTIONS ]\n";
    if (!command.words.empty()) text += fmt::format(".I {}\n", Roff(command.words));
    return text;
}

std::string Heading(std::string_view name, std::string_view summary) {
    std::string upper(name);
    for (char& c : upper) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    std::string version = VersionText();
    while (version.ends_with('\n')) version.pop_back();
    return fmt::format(
        ".\\\" Written by `ksana man`, from the table of commands.\n"
        ".TH {} 1 \"\" \"{}\" \"Ksana\"\n.SH NAME\n{} \\- {}\n",
        Roff(upper), version, Roff(name), Roff(summary));
}

std::string ExitCodeSection() {
    std::string text = ".SH EXIT STATUS\n";
    for (const ExitCode& code : kExitCodes) {
        text += fmt::format(".TP\n.B {}\n{}\n", code.code, Roff(code.meaning));
    }
    return text;
}

std::string ExampleSection(std::string_view first_word) {
    std::string text;
    for (const ManExample& example : ManExamples()) {
        if (!first_word.empty() && example.line.substr(0, example.line.find(' ')) != first_word) {
            continue;
        }
        text += fmt::format(".TP\n.B {}\n{}\n", Roff(fmt::format("ksana {}", example.line)),
                            Roff(example.purpose));
    }
    return text.empty() ? "" : ".SH EXAMPLES\n" + text;
}

std::string EnvironmentSection() {
    std::string text = ".SH ENVIRONMENT\n";
    const auto add = [&](const std::string& names, std::string_view meaning) {
        text += fmt::format(".TP\n.B {}\n{}\n", Roff(names), Roff(meaning));
    };
    add("KSANA_CONFIG", "The file of settings, where --config does not say.");
    for (const server::SettingSpec& spec : server::AllSettings()) {
        std::string names;
        for (const std::string& name : server::VariablesOf(spec)) {
            names += (names.empty() ? "" : ", ") + name;
        }
        add(names, fmt::format("{}.", spec.help));
    }
    add("KSANA_SERVER", "The server that commands ask, where --server does not say.");
    add("KSANA_TOKEN_FILE, KSANA_TOKEN", "The token they show it: a file with it, or itself.");
    add("NO_COLOR", "Where it is set and not empty, nothing is coloured.");
    return text;
}

constexpr std::string_view kFiles =
    ".SH FILES\n"
    ".TP\n.I ksana.toml\nSettings, where neither --config nor KSANA_CONFIG names a file.\n"
    ".TP\n.I data/ksana.db\nThe default store: jobs, runs and everything else.\n"
    ".TP\n.I data/jobs.json\nThe jobs of the store \"json\".\n";

std::string ProgramPage(std::span<const Command> commands,
                        const std::vector<std::string_view>& firsts) {
    std::string text = Heading("ksana", "a job scheduler and task queue");
    text +=
        ".SH SYNOPSIS\n.B ksana\n.I COMMAND\n.RI [ OPTIONS ]\n.I ...\n.SH DESCRIPTION\n"
        "Fires jobs on time, runs them, and answers for every single fire.\n"
        ".SH COMMANDS\n";
    for (const Command& command : commands) {
        text += fmt::format(".TP\n.B {}\n{}.\n", Roff(command.path), Roff(command.summary));
    }
    text += ".PP\nEvery command explains itself with\n.BR \\-\\-help .\n";
    text += ExitCodeSection();
    text += EnvironmentSection();
    text += kFiles;
    text += ExampleSection("");
    text += ".SH SEE ALSO\n";
    for (std::size_t n = 0; n < firsts.size(); ++n) {
        text += fmt::format(".BR ksana\\-{} (1){}\n", Roff(firsts[n]),
                            n + 1 < firsts.size() ? "," : "");
    }
    return text;
}

std::string OptionTexts(const Command& command) {
    std::string text;
    for (const OptionSpec& option : command.options) text += OptionText(option);
    return text;
}

ManPage PageOf(std::span<const Command> commands, std::string_view first) {
    std::vector<const Command*> own;
    for (const Command& command : commands) {
        if (command.path.substr(0, command.path.find(' ')) == first) own.push_back(&command);
    }
    KSANA_CHECK(!own.empty(), "a page of no command");
    const std::string name = fmt::format("ksana-{}", first);
    const bool alone = own.size() == 1;
    std::string verbs;
    for (const Command* command : own) {
        verbs += fmt::format("{}{}", verbs.empty() ? "" : ", ", command->path);
    }
    std::string text = Heading(name, alone ? own[0]->summary : verbs);
    text += ".SH SYNOPSIS\n";
    for (std::size_t n = 0; n < own.size(); ++n) {
        text += (n == 0 ? "" : ".br\n") + Synopsis(*own[n]);
    }
    text += ".SH DESCRIPTION\n";
    if (alone) {
        text += Roff(own[0]->summary) + ".\n" + Paragraphs(own[0]->details);
        if (!own[0]->options.empty()) text += ".SH OPTIONS\n" + OptionTexts(*own[0]);
    } else {
        for (const Command* command : own) {
            text += fmt::format(".SS ksana {}\n{}.\n", Roff(command->path), Roff(command->summary));
            text += Paragraphs(command->details) + OptionTexts(*command);
        }
    }
    const auto asks = [](const Command* command) { return command->asks_server; };
    if (std::ranges::any_of(own, asks)) {
        text += ".SH SHARED OPTIONS\nOf every command that asks a server.\n";
        for (const OptionSpec& option : ApiOptions()) text += OptionText(option);
    }
    text += ExitCodeSection() + ExampleSection(first);
    text += ".SH SEE ALSO\n.BR ksana (1)\n";
    return {name, std::move(text)};
}

}  // namespace

std::vector<ManPage> ManPages(std::span<const Command> commands) {
    std::vector<std::string_view> firsts;
    for (const Command& command : commands) {
        const std::string_view first = command.path.substr(0, command.path.find(' '));
        if (std::ranges::count(firsts, first) == 0) firsts.push_back(first);
    }
    std::vector<ManPage> pages = {{"ksana", ProgramPage(commands, firsts)}};
    for (const std::string_view first : firsts) pages.push_back(PageOf(commands, first));
    return pages;
}

}  // namespace ksana::app
