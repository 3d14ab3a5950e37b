#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>

#include "conformance/store_fixture.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_sqlite/open_sqlite.hpp"

namespace ksana::conformance {
namespace {

class SqliteHarness final : public StoreHarness {
  public:
    SqliteHarness() {
        static int made = 0;  // some tests open two
        folder_ = std::filesystem::path(::testing::TempDir()) /
                  fmt::format("ksana_conformance_{}_{}", ::getpid(), ++made);
        std::filesystem::create_directories(folder_);
        Open();
    }
    ~SqliteHarness() override {
        store_.reset();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    store::Store& store() override { return *store_; }
    bool EndsEarly() const override { return true; }
    bool Reopen() override {
        store_.reset();
        Open();
        return true;
    }

  private:
    // Not durable against a power loss, which no test here provokes; takes half the time.
    void Open() {
        auto backend = store_sqlite::OpenSqlite({.path = (folder_ / "ksana.db").string(),
                                                 .clock = clock_,
                                                 .durability = store_sqlite::Durability::kNormal});
        KSANA_CHECK(backend, backend.error().Describe());
        store_ = store_kit::MakeStore(std::move(*backend), ids_);
    }

    std::filesystem::path folder_;
    FakeClock clock_;
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
    std::unique_ptr<store::Store> store_;
};

INSTANTIATE_TEST_SUITE_P(Sqlite, StoreTest,
                         ::testing::Values(StoreFactory{
                             "sqlite", [] { return std::make_unique<SqliteHarness>(); }}));

}  // namespace
}  // namespace ksana::conformance
