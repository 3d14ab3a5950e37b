#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "ksana/base/time/fake_clock.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/store_sqlite/open_sqlite.hpp"

// Fixture for this module's tests: a database in a folder of its own, and runs to put in it.

namespace ksana::store_sqlite {

class BackendFixture : public ::testing::Test {
  protected:
    BackendFixture() {
        const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
        folder_ = std::filesystem::path(::testing::TempDir()) /
                  ("ksana_sqlite_" + std::to_string(::getpid()) + "_" + info->test_suite_name() +
                   "_" + info->name());
        std::filesystem::create_directories(folder_);
    }
    ~BackendFixture() override {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    std::string Path() const { return (folder_ / "ksana.db").string(); }
    SqliteOptions Options() { return {.path = Path(), .clock = clock_}; }
    std::unique_ptr<store_kit::Backend> Open() {
        auto backend = OpenSqlite(Options());
        EXPECT_TRUE(backend) << backend.error().Describe();
        return backend ? std::move(*backend) : nullptr;
    }

    // Returns ids in the order of their numbers.
    static Uuid Id(std::uint32_t number) {
        Uuid id;
        for (int i = 0; i < 4; ++i) {
            id.bytes.at(static_cast<std::size_t>(i)) =
                static_cast<std::uint8_t>(number >> (24 - 8 * i));
        }
        return id;
    }
    model::Run MakeRun(std::uint32_t number) const {
        model::Run run;
        run.id = Id(number);
        run.type = "mail";
        run.payload = R"({"to":"a"})";
        run.created_at = clock_.Now();
        run.updated_at = clock_.Now();
        run.status.state = model::RunState::kQueued;
        run.status.ready_at = clock_.Now();
        return run;
    }

    static Result<void> Insert(store_kit::Backend& backend, const std::vector<model::Run>& runs) {
        return backend.Write([&](store_kit::Transaction& tx) -> Result<void> {
            KSANA_TRY(const auto inserted, tx.InsertRuns(store_kit::RefsTo(runs)));
            for (const bool fresh : inserted) {
                if (!fresh) return Error(Code::kAlreadyExists, "run");
            }
            return {};
        });
    }
    static std::vector<model::Run> Load(store_kit::Backend& backend, const std::vector<Uuid>& ids) {
        std::vector<model::Run> runs;
        const auto read = backend.Read([&](store_kit::Reader& reader) -> Result<void> {
            KSANA_TRY(runs, reader.Runs(ids));
            return {};
        });
        EXPECT_TRUE(read) << read.error().Describe();
        return runs;
    }

    std::filesystem::path folder_;
    FakeClock clock_;
};

}  // namespace ksana::store_sqlite
