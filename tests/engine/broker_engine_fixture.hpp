#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/service_fixture.hpp"
#include "ksana/broker/memory_broker.hpp"
#include "ksana/codec/json/json_tree.hpp"
#include "ksana/engine/broker/broker_publisher.hpp"
#include "ksana/engine/broker/status_listener.hpp"
#include "ksana/engine/dispatch/reaper.hpp"
#include "ksana/engine/services/run_service.hpp"
#include "ksana/engine/services/task_service.hpp"
#include "ksana/store/faulty_store.hpp"

namespace ksana::engine {

// A task as its message has it.
struct TestTask {
    std::string run_id;
    std::string exec_id;
    std::string type;
    std::string body;
    std::int32_t priority = 0;
};

// A stranger's consumer: it knows the broker and the messages, and nothing of the engine.
class TestConsumer {
  public:
    TestConsumer(broker::MemoryBroker& broker, const BrokerQueues& queues, std::string name)
        : broker_(broker), queues_(queues), name_(std::move(name)) {}

    // Consumes the tasks of a category. False: the broker did not let it.
    bool Begin(const std::string& category = "", std::size_t prefetch = 100) {
        auto link = broker_.Open(name_);
        if (!link) return false;
        link_ = *std::move(link);
        const broker::QueueSpec own{.name = queues_.Worker(name_), .exclusive = true};
        return link_->Declare(queues_.Dead()) && link_->Declare(queues_.Status()) &&
               link_->Declare(queues_.Tasks(category)) && link_->Declare(own) &&
               link_->Consume(queues_.Tasks(category).name, prefetch) &&
               link_->Consume(own.name, prefetch);
    }
    void Leave() { link_.reset(); }
    bool here() const { return link_ != nullptr; }

    // Takes and acknowledges what has come; what servers say is kept in `orders`.
    std::vector<TestTask> Take(std::size_t most = 100) {
        std::vector<TestTask> tasks;
        auto deliveries = link_->Receive(Duration::zero(), most);
        if (!deliveries) {
            Leave();
            return tasks;
        }
        std::vector<std::uint64_t> tags;
        for (const broker::Delivery& one : *deliveries) {
            tags.push_back(one.tag);
            const auto json = codec::Json::Parse(one.message.body).value();
            if (!json.TextAt("/directive").empty()) {
                orders.push_back(json.TextAt("/directive") + " " + json.TextAt("/exec_id"));
                continue;
            }
            tasks.push_back({.run_id = json.TextAt("/run_id"),
                             .exec_id = json.TextAt("/exec_id"),
                             .type = json.TextAt("/type"),
                             .body = one.message.body,
                             .priority = one.message.priority});
        }
        if (!link_->Acknowledge(tags)) Leave();
        return tasks;
    }

    // Sends a status message; `more` are further members. Returns whether the broker has it.
    bool Say(const TestTask& task, const std::string& status, const std::string& more = "") {
        return Send(Text(task, status, more));
    }
    bool Send(std::string body) {
        if (!link_) return false;
        const auto sent =
            link_->Publish({{.queue = queues_.Status().name, .message = {.body = std::move(body)}}},
                           std::chrono::seconds(1));
        if (!sent) Leave();
        return sent && sent->at(0) == broker::PublishVerdict::kStored;
    }
    std::string Text(const TestTask& task, const std::string& status,
                     const std::string& more = "") const {
        return R"({"run_id":")" + task.run_id + R"(","exec_id":")" + task.exec_id +
               R"(","worker":")" + name_ + R"(","status":")" + status + "\"" + more + "}";
    }

    const std::string& name() const { return name_; }
    broker::Link& link() { return *link_; }

    std::vector<std::string> orders;

  private:
    broker::MemoryBroker& broker_;
    const BrokerQueues& queues_;
    const std::string name_;
    std::unique_ptr<broker::Link> link_;
};

inline constexpr const char* kLease = R"(,"lease":"30s")";
inline constexpr const char* kError = R"(,"error":"no")";

// What a node does with a message broker, over a memory store that may fail; the test calls
// RunOnce, and time stands still until it is moved.
class BrokerEngineTest : public ServiceFixture {
  protected:
    // `length`: messages that fit into a queue of tasks.
    explicit BrokerEngineTest(std::size_t length = 10) : queues_("ksana", length) {
        limits_.OnRoom([this] { polls_.Notify(); });
        MakePublisher({});
    }

    void MakePublisher(BrokerPublisher::Options options) {
        publisher_ = std::make_unique<BrokerPublisher>(std::move(options),
                                                       BrokerPublisher::Parts{.broker = broker_,
                                                                              .queues = queues_,
                                                                              .agents = agents_,
                                                                              .polls = polls_,
                                                                              .store = *faulty_,
                                                                              .clock = clock_,
                                                                              .random = jitter_});
    }

    // Everything that is due.
    void Turn() {
        for (int n = 0; n < 4; ++n) {
            polls_.RunOnce();
            publisher_->RunOnce();
            listener_.RunOnce();
        }
    }
    void Advance(Duration time) {
        clock_.Advance(time);
        Turn();
    }
    void Reap() { ASSERT_TRUE(reaper_.RunOnce()); }

    Uuid Submit(const std::string& type = "mail", const std::string& category = "",
                std::int32_t priority = 5) {
        NewTask task;
        task.type = type;
        task.category = category;
        task.priority = priority;
        task.payload = R"({"to":"ada"})";
        const auto made = tasks_.SubmitOne(task);
        EXPECT_TRUE(made) << made.error().Describe();
        return made ? made->id : Uuid{};
    }
    model::Run Read(const Uuid& id) { return store_->runs().Get(id)->run; }
    model::RunStatus StatusOf(const Uuid& id) { return Read(id).status; }

    // Messages that wait in the queue; none: there is no such queue.
    std::optional<std::size_t> Waiting(const std::string& queue) {
        const auto state = broker_.Open("look").value()->Inspect(queue);
        if (!state) return std::nullopt;
        return state->messages;
    }
    std::string TasksOf(const std::string& category = "") const {
        return queues_.Tasks(category).name;
    }
    void FailStore(const std::string& operation, int times = 1) {
        const std::int64_t next = faults_.Calls(operation) + 1;
        for (int n = 0; n < times; ++n) {
            faults_.At(operation, next + n, {.kind = store::FaultKind::kErrorBefore});
        }
    }

    SeededRandom chance_{7};
    SeededRandom jitter_{8};
    broker::MemoryBroker broker_{clock_, chance_};
    const BrokerQueues queues_;
    store::FaultPlan faults_;
    std::unique_ptr<store::Store> faulty_ = store::MakeFaultyStore(*store_, faults_);
    LimitTracker book_of_limits_{{}};
    AgentLimits limits_{book_of_limits_, *faulty_, clock_};
    AgentService agents_{*faulty_, {.limits = &limits_}};
    AgentPolls polls_{agents_, *faulty_, clock_, {.max_polls = 10}};
    TaskService tasks_{*store_, {}, {.timeout = std::chrono::minutes(1)}};
    Reaper reaper_{*store_, clock_, {}};
    std::unique_ptr<BrokerPublisher> publisher_;
    StatusListener listener_{
        {.broker = broker_,
         .queues = queues_,
         .agents = agents_,
         .clock = clock_,
         .random = jitter_,
         .tell = [this](const std::string& owner, const Uuid& run_id, const std::string& exec_id,
                        std::string_view directive) {
             publisher_->Tell(owner, run_id, exec_id, directive);
         }}};
    RunService runs_{*store_, ids_, nullptr, [this](const model::Run& run) {
                         publisher_->Tell(run.status.owner, run.id, run.status.exec_id, "cancel");
                     }};
    TestConsumer c1_{broker_, queues_, "c1"};
    TestConsumer c2_{broker_, queues_, "c2"};
};

}  // namespace ksana::engine
