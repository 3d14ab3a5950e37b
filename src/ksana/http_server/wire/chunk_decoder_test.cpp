#include "ksana/http_server/wire/chunk_decoder.hpp"

#include <gtest/gtest.h>

namespace ksana::http_server {
namespace {

constexpr ChunkDecoder::Limits kLimits{.body = 20, .trailer = 40};

// Returns 200 for a complete body, 100 for an incomplete one, else the status of the fault.
int StatusOf(std::string_view text) {
    ChunkDecoder decoder(kLimits);
    std::string body;
    std::size_t used = 0;
    switch (decoder.Feed(text, used, body)) {
        case ParseStatus::kNeedMore:
            return 100;
        case ParseStatus::kComplete:
            return 200;
        case ParseStatus::kFault:
            return decoder.fault().status;
    }
    return 0;
}

TEST(ChunkDecoderTest, PutsChunksTogether) {
    const std::string text = "5\r\nhello\r\n00a;x=y\r\n, chunked!\r\n0\r\nX: y\r\n\r\n";
    ChunkDecoder whole(kLimits);
    std::string body;
    std::size_t used = 0;
    ASSERT_EQ(whole.Feed(text + "GET", used, body), ParseStatus::kComplete);
    EXPECT_EQ(body, "hello, chunked!");
    EXPECT_EQ(used, text.size());
}

TEST(ChunkDecoderTest, BytesMayComeOneByOne) {
    const std::string text = "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n";
    ChunkDecoder decoder(kLimits);
    std::string body;
    std::string waiting;
    ParseStatus status = ParseStatus::kNeedMore;
    for (const char c : text) {
        ASSERT_EQ(status, ParseStatus::kNeedMore);
        waiting += c;
        std::size_t used = 0;
        status = decoder.Feed(waiting, used, body);
        waiting.erase(0, used);
    }
    EXPECT_EQ(status, ParseStatus::kComplete);
    EXPECT_EQ(body, "hello!");
}

TEST(ChunkDecoderTest, RefusesBadSizesAndLineEnds) {
    for (const std::string_view text :
         {"\r\n", "x\r\n", "-1\r\n", "+1\r\n", "0x5\r\nhello\r\n", " 5\r\nhello\r\n",
          "5 \r\nhello\r\n", "5\nhello\n0\n\n", "5\r\nhello0\r\n\r\n", "5\r\nhelloX\r\n0\r\n\r\n",
          "5\r\nhello\n0\r\n\r\n", "10000000000000000\r\n", "1ffffffffffffffff\r\n",
          "5;a\rb\r\nhello\r\n0\r\n\r\n", "0\r\nno colon\r\n\r\n", "0\r\n folded: x\r\n\r\n",
          "0\r\nx : y\r\n\r\n"}) {
        EXPECT_EQ(StatusOf(text), 400) << text;
    }
    EXPECT_EQ(StatusOf(std::string(300, '0')), 400);
}

TEST(ChunkDecoderTest, KeepsItsLimits) {
    EXPECT_EQ(StatusOf("15\r\n"), 413);
    EXPECT_EQ(StatusOf("ffffffffffffffff\r\n"), 413);
    EXPECT_EQ(StatusOf("14\r\n01234567890123456789\r\n1\r\n"), 413);
    EXPECT_EQ(StatusOf("14\r\n01234567890123456789\r\n0\r\n\r\n"), 200);
    EXPECT_EQ(StatusOf("0\r\nX: " + std::string(50, 'x') + "\r\n\r\n"), 431);
    EXPECT_EQ(StatusOf("5\r\nhel"), 100);
}

}  // namespace
}  // namespace ksana::http_server
