#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "ksana/store_postgres/wire/names.hpp"
#include "support/postgres_server.hpp"

namespace ksana::store_postgres {

// Fixture with a store in a schema of its own, and the backend of that store.
class BackendTest : public ::testing::Test {
  protected:
    void SetUp() override {
        PostgresOptions options = schema_.Options();
        options.url += "?application_name=" + schema_.name();
        auto backend = OpenPostgres(options);
        ASSERT_TRUE(backend) << backend.error().Describe();
        backend_ = backend->get();
        store_ = store_kit::MakeStore(std::move(*backend), ids_);
    }

    model::Run MakeRun(const std::string& type = "mail") {
        model::Run run;
        run.id = ids_.Next();
        run.type = type;
        return run;
    }

    // Terminates all connections of the store.
    void TerminateBackends() {
        schema_.Run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '" +
            schema_.name() + "'");
    }

    ksana::testing::PostgresSchema schema_;
    UuidGenerator ids_{schema_.clock(), schema_.random()};
    std::unique_ptr<store::Store> store_;
    store_kit::Backend* backend_ = nullptr;
};

}  // namespace ksana::store_postgres
