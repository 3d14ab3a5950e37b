#include "ksana/base/text/crc32c.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ksana {
namespace {

// The examples of RFC 3720, B.4.
TEST(Crc32c, KnownValues) {
    EXPECT_EQ(Crc32c(""), 0U);
    EXPECT_EQ(Crc32c("123456789"), 0xe3069283U);
    EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aaU);
    EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43U);
}

TEST(Crc32c, TheProcessorAndTheTableAgree) {
    std::string text;
    for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(Crc32c(text), Crc32cByTable(text)) << i;
        text += static_cast<char>(i * 7);
    }
}

TEST(Crc32c, GoesOn) {
    EXPECT_EQ(Crc32c("6789", Crc32c("12345")), Crc32c("123456789"));
    EXPECT_EQ(Crc32cByTable("6789", Crc32cByTable("12345")), Crc32c("123456789"));
}

TEST(Crc32c, FindsEveryFlippedBitOfAPage) {
    std::string page(4096, 'x');
    const std::uint32_t whole = Crc32c(page);
    for (std::size_t bit = 0; bit < page.size() * 8; bit += 11) {
        page[bit / 8] = static_cast<char>(page[bit / 8] ^ (1 << (bit % 8)));
        EXPECT_NE(Crc32c(page), whole) << bit;
        page[bit / 8] = static_cast<char>(page[bit / 8] ^ (1 << (bit % 8)));
    }
}

}  // namespace
}  // namespace ksana
