#include "apps/ksana/toolkit/command_line.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ksana::app {
namespace {

class CommandLineTest : public ::testing::Test {
  protected:
    CommandLineTest() {
        commands_.push_back({"thing do",
                             "WORD",
                             "Does a thing",
                             "Details.\n",
                             1,
                             {{"count", 'n', "N", "how many", "1"},
                              {"mode", '\0', "MODE", "mode", "soft", {"soft", "hard"}}},
                             [](const Arguments& arguments, Output& output) {
                                 output.out = arguments.words()[0] + " " + arguments.Get("count") +
                                              " " + arguments.Get("mode");
                                 return 0;
                             }});
        commands_.push_back(
            {"thing drop", "", "Drops a thing", "", 0, {}, [](const Arguments&, Output&) {
                 return 7;
             }});
    }

    int Run(std::vector<std::string> tokens) {
        output_ = {};
        return RunCommandLine(commands_, tokens, output_);
    }

    std::vector<Command> commands_;
    Output output_;
};

TEST_F(CommandLineTest, ReadsOptionsInEveryForm) {
    EXPECT_EQ(Run({"thing", "do", "w"}), 0);
    EXPECT_EQ(output_.out, "w 1 soft");
    EXPECT_EQ(Run({"thing", "do", "--count", "3", "--mode=hard", "w"}), 0);
    EXPECT_EQ(output_.out, "w 3 hard");
    EXPECT_EQ(Run({"thing", "do", "w", "-n", "4"}), 0);
    EXPECT_EQ(output_.out, "w 4 soft");
    EXPECT_EQ(Run({"thing", "do", "-n5", "--", "--count"}), 0);
    EXPECT_EQ(output_.out, "--count 5 soft");
    EXPECT_EQ(Run({"thing", "do", "-"}), 0) << "a lone dash is a word";
    EXPECT_EQ(Run({"thing", "drop"}), 7);
}

TEST_F(CommandLineTest, OtherWordsForACommand) {
    const auto add = [&](std::string_view path) {
        commands_.push_back({.path = path,
                             .words = "",
                             .summary = "Does it",
                             .details = "",
                             .options = {},
                             .run = [path](const Arguments&, Output& output) {
                                 output.out += path;
                                 return 0;
                             }});
    };
    add("thing get");
    add("job get");
    add("apply");
    EXPECT_EQ(Run({"things", "show"}), 0);
    EXPECT_EQ(output_.out, "thing get");
    EXPECT_EQ(Run({"job", "apply"}), 0);
    EXPECT_EQ(output_.out, "apply");
    EXPECT_EQ(Run({"thing", "apply"}), kExitUsage);
    add("thing show");
    EXPECT_EQ(Run({"thing", "show"}), 0);
    EXPECT_EQ(output_.out, "thing show") << "one that there is means itself";
}

TEST_F(CommandLineTest, MistakesAreExplainedOnStderr) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
        {{"thing", "do"}, "WORD is missing"},
        {{"thing", "do", "a", "b"}, "put it in quotes"},
        {{"thing", "do", "--cuont", "3", "w"}, "did you mean --count?"},
        {{"thing", "do", "--count"}, "--count needs a value: N"},
        {{"thing", "do", "-n", "1", "--count=2", "w"}, "--count is given twice"},
        {{"thing", "do", "--mode", "sotf", "w"}, "did you mean soft? (one of soft, hard)"},
        {{"thing", "do", "-x", "w"}, "unknown option -x"},
        {{"thing", "d0"}, "did you mean do?"},
        {{"thign", "do"}, "did you mean thing?"},
        {{"zebra"}, "unknown command \"zebra\""},
    };
    for (const auto& [tokens, message] : cases) {
        EXPECT_EQ(Run(tokens), kExitUsage);
        EXPECT_EQ(output_.out, "");
        EXPECT_NE(output_.err.find(message), std::string::npos) << output_.err;
        EXPECT_NE(output_.err.find("--help"), std::string::npos) << output_.err;
    }
}

TEST_F(CommandLineTest, RepeatedOptionsAndOptionalWords) {
    commands_.push_back({.path = "thing list",
                         .words = "[ID...]",
                         .summary = "Lists things",
                         .details = "",
                         .options = {{"label", 'l', "NAME", "label", "", {}, true}},
                         .run =
                             [](const Arguments& arguments, Output& output) {
                                 for (const auto& label : arguments.All("label")) {
                                     output.out += label + ";";
                                 }
                                 for (const auto& word : arguments.words()) output.out += word;
                                 return arguments.Given("label") ? 0 : 1;
                             },
                         .optional_words = 2});
    EXPECT_EQ(Run({"thing", "list", "-l", "a", "--label=b", "x", "-l", ""}), 0);
    EXPECT_EQ(output_.out, "a;b;;x");
    EXPECT_EQ(Run({"thing", "list"}), 1) << "none is fine";
    EXPECT_EQ(Run({"thing", "list", "x", "y"}), 1);
    EXPECT_EQ(Run({"thing", "list", "x", "y", "z"}), kExitUsage);
    EXPECT_NE(output_.err.find("unexpected word \"z\""), std::string::npos) << output_.err;
}

TEST_F(CommandLineTest, SharedOptionsStandInFrontOrBehind) {
    commands_.push_back({.path = "thing ask",
                         .words = "",
                         .summary = "Asks",
                         .details = "",
                         .options = {},
                         .run =
                             [](const Arguments& arguments, Output& output) {
                                 output.out = arguments.Get("server") + arguments.Get("output");
                                 return 0;
                             },
                         .asks_server = true});
    const std::vector<std::vector<std::string>> forms = {
        {"--server", "u", "-ojson", "thing", "ask"},
        {"--server=u", "thing", "ask", "-o", "json"},
        {"thing", "ask", "--server", "u", "--output=json"}};
    for (const auto& tokens : forms) {
        EXPECT_EQ(Run(tokens), 0) << output_.err;
        EXPECT_EQ(output_.out, "ujson");
    }
    EXPECT_EQ(Run({"--server", "u", "thing", "ask", "--server", "v"}), kExitUsage);
    EXPECT_NE(output_.err.find("--server is given twice"), std::string::npos) << output_.err;
    EXPECT_EQ(Run({"--server", "u", "thing", "drop"}), kExitUsage) << "it asks no server";
    EXPECT_EQ(Run({"--server", "u"}), kExitUsage);
    EXPECT_NE(output_.err.find("a command is missing"), std::string::npos) << output_.err;
    EXPECT_EQ(Run({"thing", "ask", "--help"}), 0);
    EXPECT_NE(output_.out.find("Shared options:"), std::string::npos) << output_.out;
}

TEST_F(CommandLineTest, ANounMayBeSaidInThePlural) {
    EXPECT_EQ(Run({"things", "drop"}), 7);
    EXPECT_EQ(Run({"things", "--help"}), 0);
    EXPECT_NE(output_.out.find("thing drop"), std::string::npos) << output_.out;
    EXPECT_EQ(Run({"things", "dorp"}), kExitUsage);
    EXPECT_NE(output_.err.find("did you mean drop?"), std::string::npos) << output_.err;
}

TEST_F(CommandLineTest, OutputIsHandedOverAsItComes) {
    std::string seen;
    Output output;
    output.sink = [&seen](std::string_view out, std::string_view err) {
        seen += std::string(out).append("|").append(err);
        return seen.size() < 10;
    };
    output.out = "a";
    output.err = "b";
    EXPECT_TRUE(output.Flush());
    EXPECT_EQ(output.out + output.err, "");
    output.out = "0123456789";
    EXPECT_FALSE(output.Flush()) << "nobody reads any more";
}

TEST_F(CommandLineTest, HelpGoesToStdoutWhenAskedFor) {
    for (const std::vector<std::string>& tokens :
         std::vector<std::vector<std::string>>{{"--help"},
                                               {"help"},
                                               {"thing", "--help"},
                                               {"help", "thing"},
                                               {"thing", "do", "--help"},
                                               {"help", "thing", "do"},
                                               {"thing", "do", "x", "-h"}}) {
        EXPECT_EQ(Run(tokens), 0);
        EXPECT_NE(output_.out.find("Usage: ksana"), std::string::npos);
        EXPECT_EQ(output_.err, "");
    }
    EXPECT_EQ(Run({}), kExitUsage);
    EXPECT_NE(output_.err.find("Usage: ksana"), std::string::npos);
    EXPECT_EQ(Run({"thing"}), kExitUsage);
    EXPECT_EQ(Run({"thing", "do", "--", "--help"}), 0);
    EXPECT_EQ(output_.out, "--help 1 soft") << "after -- it is a word";
    EXPECT_EQ(Run({"--version"}), 0);
    EXPECT_TRUE(output_.out.starts_with("ksana "));
}

}  // namespace
}  // namespace ksana::app
