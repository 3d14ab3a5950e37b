#include "ksana/store_postgres/migrations/submit_function.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ksana/codec/records/record_codec.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "ksana/store_postgres/wire/names.hpp"
#include "support/postgres_server.hpp"

namespace ksana::store_postgres {
namespace {

using ksana::testing::PostgresSchema;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class SubmitFunctionTest : public ::testing::Test {
  protected:
    using Run = model::Run;

    void SetUp() override {
        auto backend = OpenPostgres(schema_.Options());
        ASSERT_TRUE(backend) << backend.error().Describe();
        store_ = store_kit::MakeStore(std::move(*backend), ids_);
    }

    Uuid Submit(const std::string& arguments) {
        return RowReader(schema_.Run(fmt::format("SELECT ksana.ksana_submit({})", arguments)), 0)
            .Id();
    }
    Run Submitted(const std::string& arguments) {
        const auto found = store_->runs().Get(Submit(arguments));
        EXPECT_TRUE(found) << found.error().Describe();
        return found ? found->run : Run{};
    }
    // Returns the error of the function for refused arguments; "" if it accepts them.
    std::string Fault(const std::string& arguments) {
        const std::string sql = fmt::format(
            "CREATE FUNCTION ksana.fault() RETURNS text LANGUAGE plpgsql AS $$ BEGIN "
            "PERFORM ksana.ksana_submit({}); RETURN ''; "
            "EXCEPTION WHEN invalid_parameter_value THEN RETURN SQLERRM; END $$",
            arguments);
        schema_.Run(sql);
        const std::string said = RowReader(schema_.Run("SELECT ksana.fault()"), 0).Text();
        schema_.Run("DROP FUNCTION ksana.fault()");
        return said;
    }

    PostgresSchema schema_;
    UuidGenerator ids_{schema_.clock(), schema_.random()};
    std::unique_ptr<store::Store> store_;
};

TEST_F(SubmitFunctionTest, AllThatIsSaidComesBack) {  // T-01
    const Uuid parent = ids_.Next();
    const Uuid id = ids_.Next();
    const Run run = Submitted(
        fmt::format("'mail', '{{\"to\": [1, \"ä\"]}}', tenant => 'acme', creator => 'shop', "
                    "category => 'bulk', priority => 8, delay => '90 seconds', unique_key => 'k', "
                    "unique_period => '1 hour', timeout => '5 minutes', max_retries => 7, "
                    "retry_interval => '2500 ms', need_manual => true, parent => '{}', "
                    "selector => '{{\"zone\": \"b\", \"gpu\": \"yes\"}}', id => '{}'",
                    parent.ToString(), id.ToString()));
    Run wanted;
    wanted.id = id;
    wanted.type = "mail";
    wanted.payload = "{\"to\": [1, \"ä\"]}";
    wanted.tenant = "acme";
    wanted.creator = "shop";
    wanted.category = "bulk";
    wanted.priority = 8;
    wanted.parent = parent;
    wanted.selector = {{"gpu", "yes"}, {"zone", "b"}};
    wanted.created_at = wanted.updated_at = run.created_at;
    wanted.status.ready_at = run.created_at + seconds(90);
    wanted.unique = {.key = "k", .until = run.created_at + hours(1)};
    wanted.policy.timeout = minutes(5);
    wanted.policy.retry.max_retries = 7;
    wanted.policy.retry.interval = std::chrono::milliseconds(2500);
    wanted.policy.need_manual = true;
    EXPECT_EQ(codec::RecordToLine(run), codec::RecordToLine(wanted));
    const auto now = store_->Now();
    EXPECT_LT(*now - run.created_at, minutes(1));
    EXPECT_GE(*now, run.created_at);
}

TEST_F(SubmitFunctionTest, ItIsClaimedLikeAnyOther) {
    const Uuid low = Submit("'mail', priority => 1");
    const Uuid id = Submit("'mail'");
    EXPECT_LT(low, Submit("'other'")) << "ids grow with time";
    const auto claimed = store_->runs().Claim({.filter = {.types = {"mail"}}, .owner = "w"});
    ASSERT_TRUE(claimed) << claimed.error().Describe();
    ASSERT_EQ(claimed->runs.size(), 1U);
    const Run& run = claimed->runs[0];
    EXPECT_EQ(run.id, id);
    const auto applied = store_->runs().Apply(
        {{.run_id = run.id,
          .event = {.kind = model::EventKind::kSuccess, .exec_id = run.status.exec_id}}});
    EXPECT_EQ(applied->at(0).verdict, model::EventVerdict::kApplied);
    EXPECT_EQ(Submit(fmt::format("'mail', id => '{}'", id.ToString())), id) << "sent twice";
    EXPECT_EQ(store_->runs().Get(id)->run.status.state, model::RunState::kSucceeded);
}

TEST_F(SubmitFunctionTest, EveryPriorityAndTimeIsPackedAsWePackIt) {
    for (int priority = 0; priority <= 9; ++priority) {
        const Run run = Submitted(fmt::format("'t', priority => {}", priority));
        EXPECT_EQ(run.priority, priority);
        EXPECT_FALSE(run.unique.until);
        const Run keyed =
            Submitted(fmt::format("'t', priority => {0}, unique_key => 'k{0}', unique_period => "
                                  "'1 hour'::interval * {0} + '1 ms'",
                                  priority));
        EXPECT_EQ(keyed.priority, priority);
        EXPECT_EQ(keyed.unique.until,
                  keyed.created_at + hours(priority) + std::chrono::milliseconds(1));
    }
}

TEST_F(SubmitFunctionTest, AUniqueKeyIsRespectedBothWays) {
    const Uuid first = Submit("'t', unique_key => 'k'");
    EXPECT_EQ(Submit("'t', unique_key => 'k'"), first);
    EXPECT_NE(Submit("'t', unique_key => 'k', tenant => 'acme'"), first);
    Run mine;
    mine.type = "t";
    mine.unique.key = "k";
    const auto outcome = store_->runs().Submit({.runs = {mine}});
    EXPECT_EQ(outcome->at(0).verdict, store::SubmitVerdict::kSameKey);
    EXPECT_EQ(outcome->at(0).id, first);
    ASSERT_TRUE(
        store_->runs().Apply({{.run_id = first, .event = {.kind = model::EventKind::kCancel}}}));
    EXPECT_NE(Submit("'t', unique_key => 'k'"), first) << "it is over";
}

TEST_F(SubmitFunctionTest, WhatIsNotSaidIsTheTypesOrTheServers) {  // T-06
    EXPECT_EQ(Submitted("'t'").policy, model::RunPolicy{});
    model::RunPolicy server;
    server.timeout = minutes(2);
    server.retry.max_retries = 9;
    ASSERT_TRUE(store_->settings().Put({.key = std::string(kDefaultPolicySetting),
                                        .value = codec::RecordToLine(Run{.policy = server})}));
    EXPECT_EQ(Submitted("'t'").policy, server);
    model::RunType type;
    type.code = "t";
    type.category = "post";
    type.timeout = minutes(3);
    type.retry = model::RetryPolicy{.strategy = model::RetryStrategy::kSequence,
                                    .max_retries = 4,
                                    .sequence = {seconds(1), minutes(1)}};
    type.need_manual = true;
    type.callbacks.error.url = "http://127.0.0.1/";
    ASSERT_TRUE(store_->types().Put({.type = type}));
    const Run run = Submitted("'t'");
    EXPECT_EQ(run.category, "post");
    EXPECT_EQ(run.policy.timeout, minutes(3));
    EXPECT_EQ(run.policy.retry, *type.retry);
    EXPECT_TRUE(run.policy.need_manual);
    EXPECT_TRUE(run.policy.error_callback);
    EXPECT_FALSE(run.policy.success_callback);
    const Run own = Submitted("'t', max_retries => 1, need_manual => false, category => 'mine'");
    EXPECT_EQ(own.policy.retry.max_retries, 1);
    EXPECT_EQ(own.policy.retry.sequence, type.retry->sequence);
    EXPECT_FALSE(own.policy.need_manual);
    EXPECT_EQ(own.category, "mine");
}

TEST_F(SubmitFunctionTest, WhatIsWrongIsNamed) {  // K-20
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {"NULL", "type"},
        {"'a b'", "type"},
        {"'t', tenant => ''", "tenant"},
        {"'t', category => 'a/b'", "category"},
        {"'t', creator => E'a\\tb'", "creator"},
        {"'t', to_jsonb(repeat('x', 1048576))", "payload"},
        {"'t', priority => 10", "priority"},
        {"'t', priority => NULL", "priority"},
        {"'t', delay => '1 s', start_at => now()", "delay"},
        {"'t', delay => '-1 s'", "delay"},
        {"'t', start_at => 'infinity'", "start_at"},
        {"'t', unique_key => repeat('k', 501)", "unique_key"},
        {"'t', unique_period => '0'", "unique_period"},
        {"'t', timeout => '31 days'", "timeout"},
        {"'t', max_retries => -1", "max_retries"},
        {"'t', retry_interval => '-1 s'", "retry_interval"},
        {"'t', selector => '[]'", "selector"},
        {"'t', selector => '{\"a b\": \"x\"}'", "selector"},
        {"'t', selector => '{\"a\": 1}'", "selector"}};
    for (const auto& [arguments, name] : wrong) {
        EXPECT_TRUE(Fault(arguments).starts_with("ksana_submit: " + name))
            << arguments << ": " << Fault(arguments);
    }
    EXPECT_EQ(Fault("'t'"), "");
    EXPECT_EQ(*store_->runs().Count({}, 100), 1);
}

}  // namespace
}  // namespace ksana::store_postgres
