#include "apps/ksana/shell/completion_script.hpp"

#include <fmt/core.h>

#include "apps/ksana/shell/completion_table.hpp"

namespace ksana::app {
namespace {

// Builds the texts of ScriptTables. Lives on its stack.
class Tables {
  public:
    Tables(std::span<const Command> commands, const ScriptDialect& dialect)
        : commands_(commands), dialect_(dialect) {}

    std::string Make() {
        AddWords();
        AddLeadingOptions();
        for (const Command& command : commands_) AddCommand(command);
        return Function("_ksana_words", "$1", words_) + Function("_ksana_options", "$1", options_) +
               Function("_ksana_value", "$1 $2", values_) +
               Function("_ksana_argument", "$1", arguments_) +
               fmt::format("\n_ksana_connects() {{ case $1 in {}) ;; *) false ;; esac; }}\n",
                           connects_);
    }

  private:
    void AddWords() {
        for (const Branch& branch : BranchesOf(commands_)) {
            std::string text;
            for (const Branch::Word& word : branch.words) {
                text += dialect_.item(word.word, word.summary);
            }
            words_ += Case(fmt::format("'{}'", branch.path), std::move(text));
        }
    }

    void AddLeadingOptions() {
        std::string text = Help() + dialect_.item("--version", "prints the version");
        for (const OptionSpec& option : LeadingOptions()) {
            text += AddOption("", option);
            if (!IsOfConnection(option.name)) continue;
            connects_ += fmt::format("{}--{}", connects_.empty() ? "" : " | ", option.name);
        }
        options_ += Case("''", std::move(text));
    }

    void AddCommand(const Command& command) {
        std::string text;
        for (const OptionSpec& option : OptionsOf(command)) {
            text += AddOption(command.path, option);
        }
        const std::string pattern = fmt::format("'{}'", command.path);
        options_ += Case(pattern, text + Help());
        arguments_ += Case(pattern, OfferText(OfferOfWords(commands_, command)));
    }

    // Returns the option as a completion word, and records what its value may be.
    std::string AddOption(std::string_view path, const OptionSpec& option) {
        std::string pattern = fmt::format("'{} --{}'", path, option.name);
        if (option.letter != '\0') pattern += fmt::format(" | '{} -{}'", path, option.letter);
        values_ += Case(pattern, OfferText(OfferOfOption(commands_, option)));
        return dialect_.item(fmt::format("--{}", option.name), option.help);
    }

    std::string Help() const { return dialect_.item("--help", "explains it"); }

    std::string Case(const std::string& pattern, std::string reply) const {
        if (reply.starts_with(' ')) reply.erase(0, 1);
        if (reply.empty()) return "";
        return fmt::format("    {}) reply={}{}{} ;;\n", pattern, dialect_.open, reply,
                           dialect_.close);
    }

    std::string Function(std::string_view name, std::string_view subject,
                         const std::string& cases) const {
        return fmt::format("\n{}() {{\n    reply={}\n    case \"{}\" in\n{}    esac\n}}\n", name,
                           dialect_.nothing, subject, cases);
    }

    const std::span<const Command> commands_;
    const ScriptDialect& dialect_;
    std::string words_;
    std::string options_;
    std::string values_;
    std::string arguments_;
    std::string connects_;
};

}  // namespace

std::string ScriptTables(std::span<const Command> commands, const ScriptDialect& dialect) {
    return Tables(commands, dialect).Make();
}

}  // namespace ksana::app
