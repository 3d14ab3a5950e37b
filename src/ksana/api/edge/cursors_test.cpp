#include "ksana/api/edge/cursors.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ksana::api {
namespace {

std::string Hex(std::string_view bytes) {
    std::string hex;
    for (const char c : bytes) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        hex += kDigits[static_cast<unsigned char>(c) >> 4U];
        hex += kDigits[static_cast<unsigned char>(c) & 0xFU];
    }
    return hex;
}

TEST(CursorsTest, HashesAreThoseOfTheStandards) {
    EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const std::array<std::string_view, 3> parts = {"a", "", "bc"};
    EXPECT_EQ(Sha256(parts), Sha256("abc"));
    // RFC 4231, test case 2
    EXPECT_EQ(Hex(HmacSha256("Jefe", "what do ya want for nothing?")),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(CursorsTest, BytesComeBackFromBase64) {
    for (const std::string_view text : {"", "f", "fo", "foo", "foob", "\xff\xfe\xfd", "a/b+c="}) {
        const std::string coded = ToBase64Url(text);
        EXPECT_EQ(coded.find_first_of("+/="), std::string::npos) << coded;
        EXPECT_EQ(FromBase64Url(coded), text);
    }
    EXPECT_EQ(ToBase64Url("foob"), "Zm9vYg");
    for (const std::string_view wrong : {"Z", "Zm9vYh", "Zm9vYg==", "Zm9v Yg", "Zm9v+g", "\xff"}) {
        EXPECT_FALSE(FromBase64Url(wrong)) << wrong;
    }
}

TEST(CursorsTest, SameBytesComparesAll) {
    EXPECT_TRUE(SameBytes("", ""));
    EXPECT_TRUE(SameBytes("abc", "abc"));
    EXPECT_FALSE(SameBytes("abc", "abd"));
    EXPECT_FALSE(SameBytes("abc", "ab"));
}

}  // namespace
}  // namespace ksana::api
