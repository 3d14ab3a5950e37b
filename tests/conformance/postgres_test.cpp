#include "conformance/store_fixture.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "support/postgres_server.hpp"

namespace ksana::conformance {
namespace {

class PostgresHarness final : public StoreHarness {
  public:
    PostgresHarness() { Open(); }

    store::Store& store() override { return *store_; }
    bool EndsEarly() const override { return true; }
    bool Reopen() override {
        store_.reset();
        Open();
        return true;
    }

  private:
    void Open() {
        store_postgres::PostgresOptions options = schema_.Options();
        if (const std::string pooler = testing::PoolerUrl(); !pooler.empty()) {
            options.url = pooler;
            options.listen = false;
            options.prepare = false;
        }
        auto backend = store_postgres::OpenPostgres(options);
        if (!backend) {
            ADD_FAILURE() << backend.error().Describe();
            return;
        }
        store_ = store_kit::MakeStore(std::move(*backend), ids_);
    }

    testing::PostgresSchema schema_;
    UuidGenerator ids_{schema_.clock(), schema_.random()};
    std::unique_ptr<store::Store> store_;
};

INSTANTIATE_TEST_SUITE_P(Postgres, StoreTest,
                         ::testing::Values(StoreFactory{
                             "postgres", [] { return std::make_unique<PostgresHarness>(); }}));

}  // namespace
}  // namespace ksana::conformance
