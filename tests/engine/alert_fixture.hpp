#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/time/fake_clock.hpp"
#include "ksana/codec/v1/callback_codec.hpp"
#include "ksana/engine/alerts/alert_service.hpp"
#include "ksana/engine/alerts/alerter.hpp"
#include "ksana/engine/locks/store_locks.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"

// Shared by the tests of alerts.

namespace ksana::engine {

class AlerterTest : public ::testing::Test {
  protected:
    void SetUp() override { CreateJob("j"); }

    // Creates or changes a job.
    void CreateJob(const std::string& id, const std::string& group = "default") {
        model::Job job;
        job.id = id;
        job.name = id;
        job.group = group;
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        const auto written = store_->jobs().Write(
            {.now = {}, .writes = {{.job = job, .mode = store::WriteMode::kUpsert, .plan = {}}}});
        ASSERT_TRUE(written && written->at(0));
    }

    model::AlertRule Rule(model::AlertKind on = model::AlertKind::kFailure) {
        model::AlertRule rule{.id = "r", .on = on};
        rule.webhook = model::AlertWebhook{.url = "http://127.0.0.1:9/hook"};
        return rule;
    }
    void Put(const model::AlertRule& rule) {
        const auto before = service_.Find(rule.id);
        ASSERT_TRUE(before);
        const auto put = service_.Put(rule, *before, {});
        ASSERT_TRUE(put) << put.error().Describe();
        clock_.Advance(std::chrono::seconds(1));
    }

    // Makes a run that takes `took` and ends with `kind`.
    Uuid Run(model::EventKind kind, Duration took = std::chrono::seconds(1),
             const std::string& job = "j") {
        const model::Run run = Start(job);
        clock_.Advance(took);
        End(run, kind);
        return run.id;
    }
    model::Run Start(const std::string& job = "j", Duration late = {}) {
        model::Run run;
        run.job_id = job;
        run.type = job.empty() ? "mail" : "";
        run.kind = model::ActionKind::kQueue;
        run.policy.retry.max_retries = 0;
        run.policy.need_manual = need_manual_;
        run.policy.timeout = std::chrono::hours(24);
        run.status.ready_at = clock_.Now();
        EXPECT_TRUE(store_->runs().Submit({.now = {}, .runs = {run}}));
        clock_.Advance(late);
        return store_->runs()
            .Claim({.filter = {}, .owner = "w", .lease = std::chrono::hours(24), .limit = 1})
            ->runs.at(0);
    }
    void End(const model::Run& run, model::EventKind kind) {
        model::Event event{.kind = kind, .exec_id = run.status.exec_id, .error = "no"};
        EXPECT_TRUE(store_->runs().Apply({{run.id, event}}));
    }

    void Look() {
        for (int n = 0; n < 3; ++n) {
            clock_.Advance(std::chrono::seconds(2));
            const auto step = alerter_.RunOnce();
            ASSERT_TRUE(step) << step.error().Describe();
        }
    }
    // Returns all notices, oldest first.
    std::vector<model::CallbackOrder> Notices() {
        std::vector<model::CallbackOrder> orders;
        store::RunQuery query;
        query.filter.trigger = model::RunTrigger::kCallback;
        query.descending = false;
        const auto page = store_->runs().List(query);
        for (const model::Run& run : page->items) {
            orders.push_back(*codec::CallbackOrderFromJson(run.payload));
        }
        return orders;
    }
    std::vector<std::string> Events() {
        std::vector<std::string> events;
        for (const auto& order : Notices()) {
            events.push_back(order.body.substr(10, order.body.find('"', 10) - 10));
        }
        return events;
    }
    std::optional<model::AlertIncident> Incident(const std::string& subject = "job:j") {
        const auto all = service_.repository().AllIncidents();
        for (const StoredIncident& one : *all) {
            if (one.incident.subject == subject) return one.incident;
        }
        return std::nullopt;
    }
    using Strings = std::vector<std::string>;

    bool need_manual_ = false;  // failed runs are held
    FakeClock clock_;
    SeededRandom random_{1};
    UuidGenerator ids_{clock_, random_};
    std::unique_ptr<store::Store> store_ =
        store_kit::MakeStore(store_memory::OpenMemory(clock_), ids_);
    StoreLocks locks_{store_->locks()};
    schedule::ZoneDatabase zones_;
    AlertService service_{*store_, zones_, ids_, {}};
    Alerter alerter_{*store_, locks_, zones_, clock_, ids_, {.owner = "one"}};
};

}  // namespace ksana::engine
