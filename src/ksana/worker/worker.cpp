#include "ksana/worker/worker.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

#include "ksana/base/log/log.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/broker/broker_url.hpp"
#include "ksana/broker_rabbitmq/rabbitmq_broker.hpp"
#include "ksana/model/run/agent.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::worker {
namespace {

constexpr std::int32_t kMostSlots = 500;

LoopOptions WithKinds(LoopOptions options, const std::vector<engine::Executor*>& executors) {
    std::set<model::ActionKind> kinds;
    std::set<std::string> types;
    for (const engine::Executor* const executor : executors) {
        kinds.insert(executor->kind());
        for (std::string& type : executor->types()) types.insert(std::move(type));
    }
    options.identity.kinds.assign(kinds.begin(), kinds.end());
    options.identity.types.assign(types.begin(), types.end());
    return options;
}

// Those that a worker with a message broker uses.
std::vector<engine::Executor*> ForTasks(const std::vector<engine::Executor*>& executors) {
    std::vector<engine::Executor*> kept;
    std::ranges::copy_if(executors, std::back_inserter(kept), [](const engine::Executor* one) {
        return one->kind() == model::ActionKind::kQueue;
    });
    return kept;
}

Result<std::unique_ptr<broker::Broker>> OpenBroker(const BrokerOptions& options,
                                                   const Clock& clock) {
    if (options.url.empty()) return std::unique_ptr<broker::Broker>();
    KSANA_TRY(broker::BrokerUrl url, broker::ParseBrokerUrl(options.url));
    return broker_rabbitmq::OpenRabbitmq({.url = std::move(url), .clock = clock});
}

// The first characters of a machine's name that a worker's name may have.
std::string AsIdentifier(std::string text, std::size_t most) {
    std::erase_if(text, [](char c) { return !IsIdentifierChar(c); });
    text.resize(std::min(text.size(), most));
    return IsIdentifier(text) ? text : "worker";
}

}  // namespace

std::string HostName() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
    return name.data();
}

std::string DefaultName() {
    return fmt::format("{}-{}", AsIdentifier(HostName(), 100), ::getpid());
}

Result<void> CheckOptions(const WorkerOptions& options) {
    const Identity& who = options.loop.identity;
    std::vector<Problem> problems;
    const auto check = [&](bool ok, std::string place, std::string message) {
        if (!ok) problems.push_back({.path = std::move(place), .message = std::move(message)});
    };
    const std::string identifier = fmt::format("is {}", kIdentifierRule);
    check(IsIdentifier(who.name), "/name", identifier);
    check(who.slots >= 1 && who.slots <= kMostSlots, "/slots",
          fmt::format("must lie between 1 and {}", kMostSlots));
    check(
        options.loop.lease >= model::kMinAgentLease && options.loop.lease <= model::kMaxAgentLease,
        "/lease",
        fmt::format("must lie between {} and {}", FormatDuration(model::kMinAgentLease),
                    FormatDuration(model::kMaxAgentLease)));
    check(options.loop.drain_timeout >= Duration::zero(), "/drain_timeout", "must not be negative");
    for (const auto& [name, value] : who.labels) {
        check(IsIdentifier(name), "/labels/" + name, "the name " + identifier);
    }
    if (problems.empty()) return {};
    return Error(std::move(problems));
}

Result<std::unique_ptr<Worker>> Worker::Make(WorkerOptions options, Parts parts) {
    if (!options.broker.url.empty()) {
        parts.executors = ForTasks(parts.executors);
        if (parts.executors.empty()) {
            return Error(Code::kInvalidArgument,
                         "a worker with a message broker carries out tasks: it needs a handler");
        }
    }
    options.loop = WithKinds(std::move(options.loop), parts.executors);
    KSANA_TRY_VOID(CheckOptions(options));
    auto broker = OpenBroker(options.broker, parts.clock);
    if (!broker) return std::move(broker).error().WithContext("broker");
    KSANA_TRY(std::unique_ptr<HttpWire> wire,
              HttpWire::Make(options.wire, parts.clock, parts.random));
    auto made = std::make_unique<Worker>(Key{}, std::move(options), std::move(parts),
                                         std::move(wire), *std::move(broker));
    if (!made->options_.metrics.empty()) {
        auto server = MakeMetricsServer(made->options_.metrics, made->metrics_, made->parts_.clock,
                                        made->parts_.random);
        if (!server) return std::move(server).error().WithContext("metrics");
        made->server_ = *std::move(server);
    }
    return made;
}

Worker::Worker(Key /*key*/, WorkerOptions options, Parts parts, std::unique_ptr<HttpWire> wire,
               std::unique_ptr<broker::Broker> broker)
    : options_(std::move(options)),
      parts_(std::move(parts)),
      metrics_(options_.loop.identity.version, parts_.clock),
      wire_(std::move(wire)),
      broker_(std::move(broker)),
      queues_(options_.broker.prefix, options_.broker.queue_length),
      broker_wire_(MakeBrokerWire()),
      loop_(options_.loop, {.clock = parts_.clock,
                            .wire = UsedWire(),
                            .executors = parts_.executors,
                            .wakeup = wakeup_,
                            .ended = [this](const model::Run& run, const model::Event& event,
                                            Duration took) { NoteEnd(run, event, took); }}),
      thread_("worker", [this](const std::stop_token& stop) { Run(stop); }) {
    metrics_.Watch(loop_, UsedWire(), static_cast<std::size_t>(options_.loop.identity.slots));
}

std::unique_ptr<BrokerWire> Worker::MakeBrokerWire() {
    if (!broker_) return nullptr;
    return std::make_unique<BrokerWire>(
        BrokerWire::Options{.identity = options_.loop.identity,
                            .lease = options_.loop.lease,
                            .categories = options_.broker.categories},
        BrokerWire::Parts{.http = *wire_,
                          .broker = *broker_,
                          .queues = queues_,
                          .clock = parts_.clock,
                          .random = parts_.random});
}

Wire& Worker::UsedWire() const {
    if (broker_wire_) return *broker_wire_;
    return *wire_;
}

Result<void> Worker::Start() {
    if (server_) KSANA_TRY_VOID(server_->Start());
    KSANA_TRY_VOID(wire_->Start());
    if (broker_wire_) KSANA_TRY_VOID(broker_wire_->Start());
    return thread_.Start();
}

void Worker::Stop() {
    thread_.Stop();
    if (broker_wire_) broker_wire_->Stop();
    wire_->Stop();
    if (server_) server_->Stop();
}

void Worker::Run(const std::stop_token& stop) {
    while (!stop.stop_requested() && !loop_.over()) {
        const SteadyPoint next = loop_.RunOnce();
        if (loop_.over()) break;
        parts_.clock.Wait(wakeup_, next, stop);
    }
    {
        const MutexLock lock(mutex_);
        failure_ = loop_.failure();
    }
    if (loop_.over() && parts_.over) parts_.over();
}

std::optional<Error> Worker::failure() const {
    const MutexLock lock(mutex_);
    return failure_;
}

void Worker::NoteEnd(const model::Run& run, const model::Event& event, Duration took) {
    metrics_.Count(run, event, took);
    const bool good = event.kind == model::EventKind::kSuccess;
    Log(good ? LogLevel::kInfo : LogLevel::kWarn, "attempt ended",
        {{"run_id", run.id.ToString()},
         {"trace_id", model::TraceIdOf(run)},
         {"span_id", model::AttemptSpanText(run)},
         {"job_id", run.job_id},
         {"type", run.type},
         {"attempt", run.status.attempt},
         {"outcome", model::NameOf(event.kind)},
         {"ms", std::chrono::floor<std::chrono::milliseconds>(took).count()},
         {"error", event.error}});
}

}  // namespace ksana::worker
