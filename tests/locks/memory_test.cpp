#include "ksana/lock/memory_locks.hpp"

#include "ksana/base/time/fake_clock.hpp"
#include "locks/lock_fixture.hpp"

namespace ksana::locks {
namespace {

// One more user of the same locks, which memory offers to one process only.
class SharedLocks final : public lock::LockDriver {
  public:
    explicit SharedLocks(lock::LockDriver& locks) : locks_(locks) {}

    Result<lock::TryAnswer> Try(const lock::LockRequest& request) override {
        return locks_.Try(request);
    }
    Result<lock::Grant> Renew(const lock::LockRequest& request, std::int64_t fence) override {
        return locks_.Renew(request, fence);
    }
    Result<void> Release(const lock::LockRequest& request, std::int64_t fence) override {
        return locks_.Release(request, fence);
    }
    std::string Location() const override { return locks_.Location(); }

  private:
    lock::LockDriver& locks_;
};

FakeClock& TheClock() {
    static FakeClock clock;
    return clock;
}

std::unique_ptr<lock::LockDriver> OpenMemoryLocks() {
    static lock::MemoryLocks locks(TheClock());
    return std::make_unique<SharedLocks>(locks);
}

INSTANTIATE_TEST_SUITE_P(Memory, LockTest,
                         ::testing::Values(LockKind{
                             .name = "memory",
                             .open = OpenMemoryLocks,
                             .advance = [](Duration by) { TheClock().Advance(by); },
                             .begin = {},
                             .end = {}}));

}  // namespace
}  // namespace ksana::locks
