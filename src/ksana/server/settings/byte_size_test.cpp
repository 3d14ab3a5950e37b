#include "ksana/server/settings/byte_size.hpp"

#include <gtest/gtest.h>

namespace ksana::server {
namespace {

TEST(ByteSize, EveryUnitIsReadAndWritten) {
    EXPECT_EQ(*ParseByteSize("0"), 0U);
    EXPECT_EQ(*ParseByteSize("65536"), 65536U);
    EXPECT_EQ(*ParseByteSize("7B"), 7U);
    EXPECT_EQ(*ParseByteSize("1KB"), 1000U);
    EXPECT_EQ(*ParseByteSize("1KiB"), 1024U);
    EXPECT_EQ(*ParseByteSize("2GiB"), 2ULL << 30);
    for (const char* text : {"0B", "1001B", "64KiB", "1MB", "3MiB", "5GB", "5GiB"}) {
        EXPECT_EQ(FormatByteSize(*ParseByteSize(text)), text);
    }
}

TEST(ByteSize, TheRestIsRefused) {
    for (const char* text : {"", "MB", "-1", "1.5MB", "1 MB", "1mb", "1MBx", "1TB",
                             "18446744073709551616", "18446744073709551615GB"}) {
        EXPECT_FALSE(ParseByteSize(text)) << text;
    }
}

}  // namespace
}  // namespace ksana::server
