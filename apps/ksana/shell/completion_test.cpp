#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "apps/ksana/shell/completion_table.hpp"
#include "apps/ksana/shell/man_page.hpp"
#include "apps/ksana/toolkit/help.hpp"
#include "apps/ksana/toolkit/table.hpp"
#include "support/app_process.hpp"

namespace ksana::app {
namespace {

std::vector<Command> SomeCommands() {
    const auto nothing = [](const Arguments&, Output&) { return 0; };
    return {
        {.path = "job list",
         .words = "",
         .summary = "Lists jobs",
         .details = "",
         .options = {{"output", 'o', "FORMAT", "output", "table", {"table", "name"}}},
         .run = nothing},
        {.path = "job get",
         .words = "ID",
         .summary = "Shows it",
         .details = "",
         .word_count = 1,
         .options = {{"from", '\0', "TIME", "since", ""}, {"all", '\0', "", "all", ""}},
         .run = nothing},
        {.path = "run get",
         .words = "ID",
         .summary = "Shows a run",
         .details = "",
         .word_count = 1,
         .options = {{"job", '\0', "JOB", "of a job", ""}, {"file", 'f', "FILE", "file", ""}},
         .run = nothing},
        {.path = "shell",
         .words = "bash|zsh",
         .summary = "Says it's one",
         .details = "",
         .word_count = 1,
         .options = {{"dir", '\0', "FOLDER", "where", ""}},
         .run = nothing},
        {.path = "man",
         .words = "[COMMAND]",
         .summary = "Reads",
         .details = "",
         .options = {},
         .run = nothing,
         .optional_words = 1},
    };
}

const Command& Find(const std::vector<Command>& commands, std::string_view path) {
    return *std::ranges::find(commands, path, &Command::path);
}

TEST(CompletionTable, TellsWhatMayFollow) {
    const auto commands = SomeCommands();
    const auto branches = BranchesOf(commands);
    ASSERT_EQ(branches.size(), 3U);
    EXPECT_EQ(branches[0].path, "");
    ASSERT_EQ(branches[0].words.size(), 4U);
    EXPECT_EQ(branches[0].words[0].word, "job");
    EXPECT_EQ(branches[0].words[0].summary, "list, get");
    EXPECT_EQ(branches[1].path, "job");
    EXPECT_EQ(branches[1].words[1].summary, "Shows it");
}

TEST(CompletionTable, TellsWhatAValueMayBe) {
    const auto commands = SomeCommands();
    const auto option = [&](std::string_view path, std::size_t n) {
        return OfferText(OfferOfOption(commands, Find(commands, path).options.at(n)));
    };
    EXPECT_EQ(option("job list", 0), "words table name");
    EXPECT_EQ(option("job get", 0), "any");
    EXPECT_EQ(option("job get", 1), "") << "a switch";
    EXPECT_EQ(option("run get", 0), "names job");
    EXPECT_EQ(option("run get", 1), "files");
    EXPECT_EQ(option("shell", 0), "folders");
    const auto words = [&](std::string_view path) {
        return OfferText(OfferOfWords(commands, Find(commands, path)));
    };
    EXPECT_EQ(words("job list"), "");
    EXPECT_EQ(words("job get"), "names job");
    EXPECT_EQ(words("run get"), "any") << "there is no run list";
    EXPECT_EQ(words("shell"), "words bash zsh");
    EXPECT_EQ(words("man"), "words job run shell man");
}

TEST(CompletionScripts, QuoteWhatTheyHold) {
    const auto commands = SomeCommands();
    EXPECT_NE(ZshCompletion(commands).find("'shell:Says it'\\''s one'"), std::string::npos);
    EXPECT_NE(FishCompletion(commands).find("'Says it\\'s one'"), std::string::npos);
    EXPECT_NE(BashCompletion(commands).find("'job list --output' | 'job list -o') "
                                            "reply='words table name'"),
              std::string::npos);
}

TEST(ManPages, OneForEachFirstWord) {
    const auto pages = ManPages(SomeCommands());
    std::vector<std::string> names;
    for (const ManPage& page : pages) names.push_back(page.name);
    EXPECT_EQ(names, (std::vector<std::string>{"ksana", "ksana-job", "ksana-run", "ksana-shell",
                                               "ksana-man"}));
    EXPECT_NE(pages[1].text.find(".SS ksana job get"), std::string::npos);
    EXPECT_NE(pages[0].text.find(".SH EXIT STATUS"), std::string::npos);
}

TEST(ManPages, NothingInATextIsARequest) {
    auto commands = SomeCommands();
    commands[3].details =
        ".begins with a dot\n'and a quote \\ and a caf\xC3\xA9\n  --kept  as it is\n";
    const auto pages = ManPages(commands);
    const std::string& text = pages[3].text;
    EXPECT_NE(text.find("\n\\&.begins with a dot\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\n\\&\\(aqand a quote \\e and a caf\\[u00E9]\n"), std::string::npos);
    EXPECT_NE(text.find(".nf\n.in 2n\n\\-\\-kept  as it is\n.in\n.fi\n"), std::string::npos)
        << text;
}

// Every example must parse: an example that fails is worse than none.
TEST(ManPages, ExamplesAreCommandsOfTheTable) {
    test::AppProcess app;
    const auto commands = AllCommands(app.process());
    for (const ManExample& example : ManExamples()) {
        const auto tokens = test::ShellWords(example.line);
        const auto found = std::ranges::find_if(commands, [&](const Command& command) {
            return (std::string(example.line) + " ").starts_with(std::string(command.path) + " ");
        });
        ASSERT_NE(found, commands.end()) << example.line;
        const auto depth = std::ranges::count(found->path, ' ') + 1;
        const auto parsed = ParseArguments(*found, std::span(tokens).subspan(depth));
        EXPECT_TRUE(parsed) << example.line << ": " << parsed.error().message;
    }
}

// 80 columns is the width of a default terminal.
TEST(Help, KeepsTo80Columns) {
    test::AppProcess app;
    for (const Command& command : AllCommands(app.process())) {
        std::istringstream text(CommandHelp(command));
        for (std::string line; std::getline(text, line);) {
            EXPECT_LE(TextWidth(line), 80U) << command.path << ": " << line;
        }
    }
}

// man pages escape hyphens, so that they are not typeset as dashes.
std::string InManual(std::string text) {
    for (std::size_t at = 0; (at = text.find('-', at)) != std::string::npos; at += 2) {
        text.insert(at, "\\");
    }
    return text;
}

// Every command and option of the table must appear in the pages and in the scripts.
TEST(ManPages, EveryCommandAndOptionIsThere) {
    test::AppProcess app;
    const auto commands = AllCommands(app.process());
    std::string pages;
    for (const ManPage& page : ManPages(commands)) pages += page.text;
    const std::string bash = BashCompletion(commands);
    for (const Command& command : commands) {
        const std::string path(command.path);
        EXPECT_NE(bash.find("'" + path + "')"), std::string::npos) << path;
        EXPECT_NE(pages.find(".B ksana " + InManual(path) + "\n"), std::string::npos) << path;
        for (const OptionSpec& option : OptionsOf(command)) {
            std::string name = "--" + std::string(option.name);
            EXPECT_NE(bash.find(name + " "), std::string::npos) << path << " " << name;
            name = InManual(name);
            EXPECT_NE(pages.find("\\fB" + name + "\\fR"), std::string::npos) << path << " " << name;
        }
    }
}

}  // namespace
}  // namespace ksana::app
