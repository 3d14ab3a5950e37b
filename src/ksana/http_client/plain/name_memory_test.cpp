#include "ksana/http_client/plain/name_memory.hpp"

#include <gtest/gtest.h>

namespace ksana::http_client {
namespace {

using std::chrono::seconds;

const IpAddress kFirst = *ParseIpAddress("192.0.2.1");
const IpAddress kSecond = *ParseIpAddress("2001:db8::1");

TEST(NameMemory, KeepsAnAddressForAWhile) {
    NameMemory names;
    const SteadyPoint start{};
    EXPECT_EQ(names.Find("a", start), std::nullopt);
    names.Learn("a", kFirst, start);
    EXPECT_EQ(names.Find("a", start), kFirst);
    EXPECT_EQ(names.Find("a", start + NameMemory::kKept - seconds(1)), kFirst);
    EXPECT_EQ(names.Find("a", start + NameMemory::kKept), std::nullopt);
    EXPECT_EQ(names.Find("b", start), std::nullopt);
}

TEST(NameMemory, TheLastWordCounts) {
    NameMemory names;
    const SteadyPoint start{};
    names.Learn("a", kFirst, start);
    names.Learn("a", kSecond, start + seconds(10));
    EXPECT_EQ(names.Find("a", start + NameMemory::kKept), kSecond);
    names.Forget("a");
    names.Forget("b");
    EXPECT_EQ(names.Find("a", start), std::nullopt);
}

TEST(NameMemory, HoldsSoManyAndMakesRoomOfWhatIsOld) {
    NameMemory names;
    const SteadyPoint start{};
    for (std::size_t i = 0; i < NameMemory::kMost; ++i) {
        names.Learn(std::to_string(i), kFirst, start + seconds(i < 10 ? 0 : 10));
    }
    names.Learn("new", kFirst, start + seconds(10));
    EXPECT_EQ(names.size(), NameMemory::kMost);
    EXPECT_EQ(names.Find("new", start + seconds(10)), std::nullopt) << "no room";
    names.Learn("new", kFirst, start + NameMemory::kKept);
    EXPECT_EQ(names.Find("new", start + NameMemory::kKept), kFirst);
    EXPECT_EQ(names.size(), NameMemory::kMost - 9);
}

}  // namespace
}  // namespace ksana::http_client
