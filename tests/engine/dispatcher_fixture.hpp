#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/scripted_executor.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/engine/dispatch/dispatcher.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"

namespace ksana::engine {

using model::EventKind;
using model::RunState;

// A dispatcher over a memory store, with an executor that ends attempts only when the test says so.
class DispatcherTest : public ::testing::Test {
  protected:
    void SetUp() override {
        subscription_ = store_->changes().Subscribe(store::Topics::All(), [this](auto topics) {
            if (dispatcher_) dispatcher_->Hint(topics);
        });
        Make({});
        CreateJob("job");
    }

    void Make(Dispatcher::Options options) {
        options.owner = "node/1";
        options.wake = [this] { ++wakes_; };
        options.wake_starter = [this] { ++starter_wakes_; };
        options.limits = &limits_;
        dispatcher_ = std::make_unique<Dispatcher>(*store_, executor_, clock_, options);
    }

    void CreateJob(const std::string& id) {
        model::Job job;
        job.id = id;
        job.name = "name of " + id;
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        const auto written =
            store_->jobs().Write({.now = {}, .writes = {{.job = job, .plan = {}}}});
        ASSERT_TRUE(written && written->at(0));
    }

    // Submits runs of the job, which may overlap, ready after `after`.
    std::vector<Uuid> Submit(int count, Duration after = {}) {
        std::vector<model::Run> runs;
        for (int n = 0; n < count; ++n) {
            model::Run run;
            run.job_id = "job";
            run.kind = model::ActionKind::kHttp;
            run.policy.timeout = std::chrono::minutes(5);
            run.policy.retry.max_retries = 1;
            run.status.ready_at = clock_.Now() + after;
            runs.push_back(run);
        }
        const auto submitted =
            store_->runs().Submit({.now = {}, .runs = std::move(runs), .start = {}});
        std::vector<Uuid> ids;
        for (const auto& one : *submitted) ids.push_back(one.id);
        return ids;
    }

    // Calls RunOnce, like a loop runner, while it asks to be called again.
    Step RunOnce() {
        for (int n = 0; n < 100; ++n) {
            auto step = dispatcher_->RunOnce();
            EXPECT_TRUE(step) << step.error().message;
            if (!step || !step->again) return step ? *step : Step{};
        }
        ADD_FAILURE() << "it never rests";
        return {};
    }

    RunState StateOf(const Uuid& id) { return store_->runs().Get(id)->run.status.state; }

    FakeClock clock_;
    SeededRandom random_{1};
    UuidGenerator ids_{clock_, random_};
    std::unique_ptr<store::Store> store_ =
        store_kit::MakeStore(store_memory::OpenMemory(clock_), ids_);
    LimitTracker limits_{{.node_rate = {}, .breaker = {.failures = 2}, .name = {}}};
    ScriptedExecutor executor_;
    std::unique_ptr<Dispatcher> dispatcher_;
    store::ChangeFeed::Subscription subscription_;
    int wakes_ = 0;
    int starter_wakes_ = 0;
};

}  // namespace ksana::engine
