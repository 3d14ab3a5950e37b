#include "ksana/http_client/plain/address_cache.hpp"

#include <gtest/gtest.h>

namespace ksana::http_client {
namespace {

using std::chrono::seconds;

const IpAddress kFirst = *ParseIpAddress("192.0.2.1");
const IpAddress kSecond = *ParseIpAddress("2001:db8::1");

TEST(AddressCache, KeepsAnAddressForAWhile) {
    AddressCache names;
    const SteadyPoint start{};
    EXPECT_EQ(names.Find("a", start), std::nullopt);
    names.Learn("a", kFirst, start);
    EXPECT_EQ(names.Find("a", start), kFirst);
    EXPECT_EQ(names.Find("a", start + AddressCache::kKept - seconds(1)), kFirst);
    EXPECT_EQ(names.Find("a", start + AddressCache::kKept), std::nullopt);
    EXPECT_EQ(names.Find("b", start), std::nullopt);
}

TEST(AddressCache, TheLastWordCounts) {
    AddressCache names;
    const SteadyPoint start{};
    names.Learn("a", kFirst, start);
    names.Learn("a", kSecond, start + seconds(10));
    EXPECT_EQ(names.Find("a", start + AddressCache::kKept), kSecond);
    names.Forget("a");
    names.Forget("b");
    EXPECT_EQ(names.Find("a", start), std::nullopt);
}

TEST(AddressCache, HoldsSoManyAndMakesRoomOfWhatIsOld) {
    AddressCache names;
    const SteadyPoint start{};
    for (std::size_t i = 0; i < AddressCache::kMost; ++i) {
        names.Learn(std::to_string(i), kFirst, start + seconds(i < 10 ? 0 : 10));
    }
    names.Learn("new", kFirst, start + seconds(10));
    EXPECT_EQ(names.size(), AddressCache::kMost);
    EXPECT_EQ(names.Find("new", start + seconds(10)), std::nullopt) << "no room";
    names.Learn("new", kFirst, start + AddressCache::kKept);
    EXPECT_EQ(names.Find("new", start + AddressCache::kKept), kFirst);
    EXPECT_EQ(names.size(), AddressCache::kMost - 9);
}

}  // namespace
}  // namespace ksana::http_client
