#include "ksana/exec/command/command_output.hpp"

#include <gtest/gtest.h>

#include "ksana/model/run/attempt_log.hpp"

namespace ksana::exec {
namespace {

TEST(CommandOutput, BeginningAndEndAreKept) {
    CommandOutput output(10);
    output.Add("abc");
    EXPECT_EQ(output.Text(), "abc");
    output.Add("defgh");
    EXPECT_EQ(output.Text(), "abcdefgh");
    EXPECT_EQ(output.left_out(), 0U);
    output.Add("ijklmnopqrstuvwxyz");
    EXPECT_EQ(output.Text(), "abcde\n[16 bytes left out]\nvwxyz");
    EXPECT_EQ(output.total(), 26U);
    output.Add("12");
    EXPECT_EQ(output.Text(), "abcde\n[18 bytes left out]\nxyz12");
    EXPECT_EQ(output.Tail(3), "z12");
}

TEST(CommandOutput, EveryLengthOfPieceGivesTheSame) {
    std::string all;
    for (int n = 0; n < 500; ++n) all += std::to_string(n) + "\n";
    CommandOutput whole(64);
    whole.Add(all);
    for (std::size_t piece = 1; piece < 100; ++piece) {
        CommandOutput output(64);
        std::string_view rest = all;
        while (!rest.empty()) {
            output.Add(rest.substr(0, piece));
            rest.remove_prefix(std::min(piece, rest.size()));
        }
        ASSERT_EQ(output.Text(), whole.Text()) << piece;
    }
}

TEST(CommandOutput, LinesAreLoggedAndProgressIsNot) {
    CommandOutput output(100);
    output.Add("one\r\n::progress 40 half \"way\"\ntw");
    auto news = output.TakeNews();
    EXPECT_EQ(news.log, R"("one")");
    EXPECT_EQ(news.progress, 40);
    EXPECT_EQ(news.note, "half \"way\"");
    EXPECT_FALSE(output.has_news());
    output.Add("o\n::progress much\n::progress 101\n::progress 60%\nlast \xff");
    output.End();
    news = output.TakeNews();
    EXPECT_EQ(news.log, "\"two\",\"::progress much\",\"::progress 101\",\"last \uFFFD\"");
    EXPECT_EQ(news.progress, 60);
    EXPECT_EQ(news.note, "");
}

TEST(CommandOutput, AFloodIsBoundedAndItsProgressSeen) {
    CommandOutput output(1024);
    std::string block;
    while (block.size() < (64U << 10)) block += "y\n";
    for (int n = 0; n < 100; ++n) output.Add(block);
    output.Add("not ::progress 10\n::progress 30\n");
    for (int n = 0; n < 100; ++n) output.Add(block);
    const auto news = output.TakeNews();
    EXPECT_LE(news.log.size(), model::kMaxAttemptLog);
    EXPECT_NE(news.log.find("bytes of output came too fast"), std::string::npos);
    EXPECT_EQ(news.progress, 30);
    EXPECT_LE(output.Text().size(), 1100U);
    output.Add("after\n");
    EXPECT_EQ(output.TakeNews().log, R"("after")");
}

TEST(CommandOutput, AnEndlessLineIsCut) {
    CommandOutput output(1024);
    for (int n = 0; n < 100; ++n) output.Add(std::string(1000, 'x'));
    output.Add("\nnext\n");
    const auto news = output.TakeNews();
    EXPECT_LT(news.log.size(), 5'000U);
    EXPECT_TRUE(news.log.ends_with(R"(,"next")"));
}

}  // namespace
}  // namespace ksana::exec
