#include "locks/lock_fixture.hpp"
#include "support/etcd_server.hpp"

// G-07: the suite of every driver, on etcd.

namespace ksana::locks {
namespace {

std::unique_ptr<lock::LockDriver> OpenEtcdKind() {
    static const SystemClock clock;
    return testing::OpenEtcd(testing::EtcdOptions(testing::EtcdPort(), clock));
}

INSTANTIATE_TEST_SUITE_P(Etcd, LockTest,
                         ::testing::Values(LockKind{.name = "etcd",
                                                    .open = OpenEtcdKind,
                                                    .shortest_ttl = testing::kEtcdShortestTtl,
                                                    .advance = {},
                                                    .begin = {},
                                                    .end = {}}));

}  // namespace
}  // namespace ksana::locks
