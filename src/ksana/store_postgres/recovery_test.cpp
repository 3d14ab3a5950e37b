#include <gtest/gtest.h>

#include <atomic>
#include <charconv>
#include <functional>
#include <thread>

#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "ksana/store_postgres/wire/names.hpp"
#include "support/postgres_server.hpp"
#include "support/tcp_proxy.hpp"

// What a call does when connections break or the server does not answer (D-11).

namespace ksana::store_postgres {
namespace {

using ksana::testing::PostgresSchema;
using ksana::testing::TcpProxy;
using Mode = TcpProxy::Mode;
using store_kit::Backend;
using store_kit::Transaction;

std::size_t PortAt(const std::string& url) { return url.find(':', url.find('@')) + 1; }

std::uint16_t PortOf(const std::string& url) {
    std::uint16_t port = 0;
    std::from_chars(url.data() + PortAt(url), url.data() + url.size(), port);
    return port;
}

std::string ThroughPort(std::string url, std::uint16_t port) {
    const std::size_t at = PortAt(url);
    return url.replace(at, url.find('/', at) - at, std::to_string(port));
}

class RecoveryTest : public ::testing::Test {
  protected:
    // Opens a backend through the proxy, with one connection and unprepared statements, so that the
    // proxy sees their text.
    void Open(Duration call_timeout = std::chrono::seconds(10)) {
        PostgresOptions options = schema_.Options();
        ASSERT_TRUE(OpenPostgres(options));  // creates the schema, without the proxy
        options.url = ThroughPort(options.url, proxy_.port());
        options.pool_size = 1;
        options.call_timeout = call_timeout;
        options.connect_timeout = std::min<Duration>(call_timeout, options.connect_timeout);
        options.listen = false;
        options.prepare = false;
        auto opened = OpenPostgres(options);
        ASSERT_TRUE(opened) << opened.error().Describe();
        backend_ = std::move(*opened);
        ASSERT_TRUE(Insert());  // its policy is cached from now on
    }

    model::Run MakeRun() {
        model::Run run;
        run.id = ids_.Next();
        run.type = "mail";
        return run;
    }

    Result<void> Insert() { return Insert(MakeRun()); }
    Result<void> Insert(const model::Run& run) {
        return backend_->Write([&](Transaction& tx) -> Result<void> {
            ++bodies_;
            tx.Touch(store::Topic::kReady);
            KSANA_TRY(const auto inserted, tx.InsertRuns({&run}));
            EXPECT_EQ(inserted, std::vector<bool>{true});
            return {};
        });
    }

    Result<void> Append() {
        const model::Run run = MakeRun();
        return backend_->Append([&](Transaction& tx) -> Result<void> {
            KSANA_TRY([[maybe_unused]] const auto inserted, tx.InsertRuns({&run}));
            return {};
        });
    }

    void Pause(Duration time) {
        Wakeup nobody;
        schema_.clock().Wait(nobody, schema_.clock().SteadyNow() + time, {});
    }

    // Two callers, one after the other, wait for the only connection and form one group. Calls
    // `second_waits` when both wait, and `first_ends` when the first has failed with its deadline.
    // The second must succeed in the time that it has left.
    void AppendTwo(const std::function<void()>& second_waits,
                   const std::function<void()>& first_ends) {
        std::atomic<bool> inside{false};
        std::jthread holder([&] {
            EXPECT_TRUE(backend_->Write([&](Transaction&) -> Result<void> {
                inside = true;
                while (!leave_) std::this_thread::yield();
                return {};
            }));
        });
        while (!inside) std::this_thread::yield();
        std::jthread first([&] {
            const auto done = Append();
            EXPECT_FALSE(done);
            EXPECT_EQ(done.error().code, Code::kDeadlineExceeded) << done.error().message;
            first_ends();
        });
        Pause(std::chrono::seconds(1));
        std::jthread second([&] {
            const auto done = Append();
            EXPECT_TRUE(done) << done.error().message;
        });
        Pause(std::chrono::milliseconds(200));
        second_waits();
        first.join();
        second.join();
        EXPECT_EQ(Count(), 2);
    }

    std::int64_t Count() {
        const Rows rows = schema_.Run("SELECT count(*) FROM ksana.runs");
        return RowReader(rows, 0).Int64();
    }

    PostgresSchema schema_;
    UuidGenerator ids_{schema_.clock(), schema_.random()};
    TcpProxy proxy_{PortOf(ksana::testing::PostgresUrl()), std::string("COMMIT\0", 7)};
    std::unique_ptr<Backend> backend_;
    int bodies_ = 0;
    std::atomic<bool> leave_{false};  // AppendTwo: releases the connection
};

TEST_F(RecoveryTest, CommitThatNeverArrivedIsDoneAgain) {
    Open();
    bodies_ = 0;
    proxy_.Set(Mode::kCutBefore);
    const auto done = Insert();
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(proxy_.cuts(), 1);
    EXPECT_EQ(bodies_, 2);
    EXPECT_EQ(Count(), 2);
}

TEST_F(RecoveryTest, CommitWhoseAnswerWasLostIsNotDoneAgain) {
    Open();
    bodies_ = 0;
    store::Topics told;
    const auto subscription =
        backend_->changes().Subscribe(store::Topics::All(), [&](auto topics) { told |= topics; });
    proxy_.Set(Mode::kCutAfter);
    const auto done = Insert();
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(proxy_.cuts(), 1);
    EXPECT_EQ(bodies_, 1);
    EXPECT_EQ(Count(), 2);
    EXPECT_TRUE(told.Has(store::Topic::kReady));
}

// The policy of a run is committed before the run.
TEST_F(RecoveryTest, PolicyThatWasNotStoredIsStoredAgain) {
    Open();
    for (const Mode mode : {Mode::kCutBefore, Mode::kCutAfter}) {
        model::Run run = MakeRun();
        run.policy.timeout = std::chrono::seconds(mode == Mode::kCutBefore ? 77 : 78);
        proxy_.Set(mode);
        const auto done = Insert(run);
        ASSERT_TRUE(done) << done.error().message;
    }
    EXPECT_EQ(proxy_.cuts(), 2);
    EXPECT_EQ(Count(), 3);
}

TEST_F(RecoveryTest, OutcomeThatCannotBeAskedForIsUnknown) {
    Open(std::chrono::seconds(1));
    bodies_ = 0;
    proxy_.Set(Mode::kCutAfter, Mode::kRefuse);
    const auto done = Insert();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::kUnavailable);
    EXPECT_NE(done.error().message.find("unknown"), std::string::npos) << done.error().message;
    EXPECT_EQ(bodies_, 1);
    EXPECT_EQ(Count(), 2);
}

// The connection breaks before COMMIT is sent, so nothing can have been committed.
TEST_F(RecoveryTest, ConnectionLostBeforeCommitIsTriedAgain) {
    Open();
    const TcpProxy::Mode back = Mode::kPass;
    proxy_.Set(Mode::kRefuse);  // closes the existing connection
    std::jthread heals([&] {
        Pause(std::chrono::milliseconds(200));
        proxy_.Set(back);
    });
    const auto done = Insert();
    EXPECT_TRUE(done) << done.error().message;
    EXPECT_EQ(Count(), 2);
}

TEST_F(RecoveryTest, ServerThatDoesNotAnswerIsGivenUpInTime) {
    Open(std::chrono::milliseconds(700));
    proxy_.Set(Mode::kStall);
    const SteadyPoint start = schema_.clock().SteadyNow();
    const auto read = backend_->Read([](store_kit::Reader& reader) -> Result<void> {
        KSANA_TRY([[maybe_unused]] const auto wake, reader.NextWake());
        return {};
    });
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::kDeadlineExceeded) << read.error().message;
    EXPECT_LT(schema_.clock().SteadyNow() - start, std::chrono::seconds(3));
    proxy_.Set(Mode::kPass);
    EXPECT_TRUE(Insert());  // reconnects by itself
}

TEST_F(RecoveryTest, ExpiredCallTakesNobodyWithIt) {
    Open(std::chrono::seconds(2));
    AppendTwo([] {}, [&] { leave_ = true; });
}

TEST_F(RecoveryTest, CallThatExpiresUnderWayTakesNobodyWithIt) {
    Open(std::chrono::seconds(2));
    AppendTwo(
        [&] {
            proxy_.Set(Mode::kStall);
            leave_ = true;
        },
        [&] { proxy_.Set(Mode::kPass); });
}

TEST_F(RecoveryTest, NoServerIsUnavailable) {
    PostgresOptions options = schema_.Options();
    proxy_.Set(Mode::kRefuse);
    options.url = ThroughPort(options.url, proxy_.port());
    options.call_timeout = std::chrono::milliseconds(300);
    const auto opened = OpenPostgres(options);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::kUnavailable) << opened.error().message;
}

// Terminates all server processes again and again while four threads write: every call succeeds and
// every run is stored once.
TEST_F(RecoveryTest, TerminatedBackendsUnderLoad) {
    PostgresOptions options = schema_.Options();
    options.url += "?application_name=" + schema_.name();
    auto opened = OpenPostgres(options);
    ASSERT_TRUE(opened) << opened.error().Describe();
    const auto store = store_kit::MakeStore(std::move(*opened), ids_);
    std::atomic<int> submitted{0};
    std::atomic<bool> done{false};
    {
        std::vector<std::jthread> writers;
        for (int i = 0; i < 4; ++i) {
            writers.emplace_back([&] {
                while (!done) {
                    const auto outcome = store->runs().Submit({.runs = {MakeRun(), MakeRun()}});
                    EXPECT_TRUE(outcome) << outcome.error().message;
                    submitted += 2;
                }
            });
        }
        for (int i = 0; i < 5; ++i) {
            const int before = submitted;
            while (submitted < before + 20) std::this_thread::yield();
            schema_.Run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = '" +
                schema_.name() + "'");
        }
        done = true;
    }
    EXPECT_EQ(Count(), submitted);
}

TEST_F(RecoveryTest, PoolIsSized) {
    PostgresOptions options = schema_.Options();
    options.pool_size = 1;
    options.call_timeout = std::chrono::milliseconds(500);
    auto opened = OpenPostgres(options);
    ASSERT_TRUE(opened);
    Backend& backend = **opened;
    std::atomic<bool> inside{false};
    std::atomic<bool> leave{false};
    std::jthread holder([&] {
        EXPECT_TRUE(backend.Write([&](Transaction&) -> Result<void> {
            inside = true;
            while (!leave) std::this_thread::yield();
            return {};
        }));
    });
    while (!inside) std::this_thread::yield();
    const auto second = backend.Write([](Transaction&) -> Result<void> { return {}; });
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::kDeadlineExceeded);
    leave = true;
    holder.join();
    EXPECT_TRUE(backend.Write([](Transaction&) -> Result<void> { return {}; }));
}

}  // namespace
}  // namespace ksana::store_postgres
