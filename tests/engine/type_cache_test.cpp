#include "ksana/engine/services/type_cache.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <future>

#include "engine/service_fixture.hpp"
#include "ksana/store/faulty_store.hpp"
#include "ksana/store/page.hpp"

namespace ksana::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class TypeCacheTest : public ServiceFixture {
  protected:
    void Put(const std::string& code, Duration timeout) {
        model::RunType type;
        type.code = code;
        type.timeout = timeout;
        ASSERT_TRUE(store_->types().Put({.type = type, .expected = {}, .audit = {}}));
    }
};

// The types loop has read the first page when another thread changes a type on that page and
// refreshes the cache. The loop's older page must not replace the newer snapshot.
TEST_F(TypeCacheTest, AnEarlierReadDoesNotReplaceALaterOne) {
    for (std::size_t i = 0; i <= store::kMaxPageSize; ++i) {
        Put(fmt::format("type-{:05}", i), seconds(1));
    }
    store::FaultPlan plan;
    plan.At("types.List", 2, {.kind = store::FaultKind::kDelay, .delay = seconds(1)});
    std::future<void> other;
    TypeCache* of_all = nullptr;
    const auto between = [&](Duration) {
        Put("type-00000", seconds(2));
        other = std::async(std::launch::async, [&] { EXPECT_TRUE(of_all->Refresh()); });
        // Only a cache that does not serialize refreshes lets the other thread finish now; this
        // wait gives it the time.
        other.wait_for(milliseconds(100));
    };
    const auto faulty = store::MakeFaultyStore(*store_, plan, between);
    TypeCache book(*faulty);
    of_all = &book;
    ASSERT_TRUE(book.Refresh());
    ASSERT_TRUE(other.valid()) << "the second page was not asked for";
    other.get();
    ASSERT_EQ(book.size(), store::kMaxPageSize + 1);
    EXPECT_EQ(book.Find("type-00000")->timeout, seconds(2));
}

}  // namespace
}  // namespace ksana::engine
