#include "conformance/store_fixture.hpp"
#include "ksana/store_json/open_json.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::conformance {
namespace {

class JsonHarness final : public StoreHarness {
  public:
    JsonHarness() { Reopen(); }

    store::Store& store() override { return *store_; }
    bool Reopen() override {
        store_.reset();
        auto backend =
            store_json::OpenJson({.path = folder_.File("jobs.json"), .clock = clock_, .ids = ids_});
        EXPECT_TRUE(backend) << backend.error().Describe();
        store_ = store_kit::MakeStore(*std::move(backend), ids_);
        return true;
    }

  private:
    test::TemporaryFolder folder_;
    FakeClock clock_;
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
    std::unique_ptr<store::Store> store_;
};

INSTANTIATE_TEST_SUITE_P(Json, StoreTest,
                         ::testing::Values(StoreFactory{
                             "json", [] { return std::make_unique<JsonHarness>(); }}));

}  // namespace
}  // namespace ksana::conformance
