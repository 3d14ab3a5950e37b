// A consumer of tasks through RabbitMQ that does nothing with them: it says RUNNING, acknowledges,
// and says COMPLETED, as docs/rabbitmq.md has it. Prints how many it had when no more came.
//   ksana_broker_consumer URL NAME list|single
// list: the ends of a batch and the beginnings of the next one are one message; single: a message
// for each report, as simple consumers do.
#include <fmt/format.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/time/clock.hpp"
#include "ksana/broker_rabbitmq/rabbitmq_broker.hpp"
#include "ksana/engine/broker/broker_queues.hpp"

namespace ksana::bench {
namespace {

constexpr std::size_t kBatch = 250;
constexpr Duration kWithin = std::chrono::seconds(10);
constexpr Duration kLook = std::chrono::milliseconds(100);

volatile std::sig_atomic_t stopped = 0;

[[noreturn]] void Fail(const Error& error) {
    fmt::print(stderr, "{}\n", error.Describe());
    std::exit(1);
}

std::string_view ValueOf(std::string_view text, std::string_view name) {
    const std::size_t begin = text.find(name) + name.size();
    return text.substr(begin, text.find('"', begin) - begin);
}

class Consumer {
  public:
    Consumer(broker::Link& link, std::string name, bool list)
        : link_(link), name_(std::move(name)), list_(list) {}

    std::uint64_t Work() {
        std::uint64_t count = 0;
        while (stopped == 0) {
            // What is done is reported with what comes next, unless nothing does.
            auto deliveries = link_.Receive(reports_.empty() ? kLook : Duration::zero(), kBatch);
            if (!deliveries) Fail(deliveries.error());
            for (const broker::Delivery& one : *deliveries) Add(one, "RUNNING");
            Send();
            std::vector<std::uint64_t> tags;
            for (const broker::Delivery& one : *deliveries) tags.push_back(one.tag);
            if (const auto done = link_.Acknowledge(tags); !done) Fail(done.error());
            for (const broker::Delivery& one : *deliveries) Add(one, "COMPLETED");
            if (!list_) Send();
            count += deliveries->size();
        }
        Send();
        return count;
    }

  private:
    void Add(const broker::Delivery& task, std::string_view status) {
        const std::string_view body = task.message.body;
        reports_.push_back(fmt::format(
            R"({{"run_id":"{}","exec_id":"{}","worker":"{}","status":"{}"}})",
            ValueOf(body, R"("run_id":")"), ValueOf(body, R"("exec_id":")"), name_, status));
    }

    // Returns when the broker has them.
    void Send() {
        if (reports_.empty()) return;
        if (list_) reports_ = {fmt::format("[{}]", fmt::join(reports_, ","))};
        std::vector<broker::OutMessage> messages;
        for (std::string& report : reports_) {
            messages.push_back(
                {.queue = queues_.Status().name, .message = {.body = std::move(report)}});
        }
        if (const auto told = link_.Publish(messages, kWithin); !told) Fail(told.error());
        reports_.clear();
    }

    broker::Link& link_;
    const std::string name_;
    const bool list_;
    const engine::BrokerQueues queues_{"ksana", 1};
    std::vector<std::string> reports_;  // that wait to be sent
};

int Main(const char* text, std::string name, bool list) {
    std::signal(SIGTERM, [](int) { stopped = 1; });
    SystemClock clock;
    auto url = broker::ParseBrokerUrl(text);
    if (!url) Fail(url.error());
    const auto broker = broker_rabbitmq::OpenRabbitmq({.url = *std::move(url), .clock = clock});
    if (!broker) Fail(broker.error());
    const auto link = (*broker)->Open(name);
    if (!link) Fail(link.error());
    if (const auto done = (*link)->Consume("ksana.tasks", 2 * kBatch); !done) Fail(done.error());
    fmt::print("ready\n");
    std::fflush(stdout);
    fmt::print("{}\n", Consumer(**link, std::move(name), list).Work());
    return 0;
}

}  // namespace
}  // namespace ksana::bench

int main(int argc, char** argv) {
    if (argc != 4) {
        fmt::print(stderr, "usage: ksana_broker_consumer URL NAME list|single\n");
        return 2;
    }
    return ksana::bench::Main(argv[1], argv[2], std::string_view(argv[3]) == "list");
}
