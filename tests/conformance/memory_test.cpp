#include "conformance/store_fixture.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"

namespace ksana::conformance {
namespace {

class MemoryHarness final : public StoreHarness {
  public:
    store::Store& store() override { return *store_; }
    bool Reopen() override { return false; }

  private:
    FakeClock clock_;
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
    std::unique_ptr<store::Store> store_ =
        store_kit::MakeStore(store_memory::OpenMemory(clock_), ids_);
};

INSTANTIATE_TEST_SUITE_P(Memory, StoreTest,
                         ::testing::Values(StoreFactory{
                             "memory", [] { return std::make_unique<MemoryHarness>(); }}));

}  // namespace
}  // namespace ksana::conformance
