#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/loop_thread.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/http_server/server.hpp"
#include "ksana/worker/broker_wire.hpp"
#include "ksana/worker/http_wire.hpp"
#include "ksana/worker/worker_loop.hpp"
#include "ksana/worker/worker_metrics.hpp"

namespace ksana::worker {

// Tasks come through a message broker, not from the servers. Such a worker carries out tasks only.
struct BrokerOptions {
    std::string url;  // empty: no broker
    std::string prefix = "ksana";
    std::vector<std::string> categories = {""};  // whose queues it consumes; "": of none
    std::size_t queue_length = 100'000;          // as the servers have it
};

struct WorkerOptions {
    HttpWireOptions wire;
    BrokerOptions broker;
    // kinds and types are those of the executors.
    LoopOptions loop;
    std::string metrics;  // "ADDRESS:PORT"; empty: not served
};

// Checks name, slots, labels, types and times; kInvalidArgument names every fault.
Result<void> CheckOptions(const WorkerOptions& options);

// Returns the name of this machine.
std::string HostName();
// Returns HOST-PID: unlike every other worker's that has no name given.
std::string DefaultName();

// A worker: the loop on a thread of its own, the calls to the servers, and the metrics. Owned by
// the command `ksana worker` or by the library's ksana::Worker. Thread-safe.
class Worker {
    struct Key {};  // only Make can construct one

  public:
    struct Parts {
        Clock& clock;
        Random& random;  // must be thread-safe
        std::vector<engine::Executor*> executors;
        std::function<void()> over;  // called once, on the loop's thread, when the worker is done
    };

    // Makes all parts without starting them. What `parts` refers to must outlive the worker; its
    // executors must have answered every attempt before they are destroyed.
    static Result<std::unique_ptr<Worker>> Make(WorkerOptions options, Parts parts);
    Worker(Key key, WorkerOptions options, Parts parts, std::unique_ptr<HttpWire> wire,
           std::unique_ptr<broker::Broker> broker);
    ~Worker() { Stop(); }

    // kInvalidArgument or kUnavailable if the metrics cannot be served.
    Result<void> Start();
    // See WorkerLoop.
    void Drain() { loop_.Drain(); }
    void Hurry() { loop_.Hurry(); }
    // Ends the loop and all calls, wherever they are: call it when the worker is over.
    void Stop();

    // After `over`: why it ended; none: it was asked to.
    std::optional<Error> failure() const;
    std::uint16_t metrics_port() const { return server_ ? server_->port() : std::uint16_t{0}; }
    std::size_t running() const { return loop_.running(); }

  private:
    std::unique_ptr<BrokerWire> MakeBrokerWire();
    Wire& UsedWire() const;
    void Run(const std::stop_token& stop);
    void NoteEnd(const model::Run& run, const model::Event& event, Duration took);

    const WorkerOptions options_;
    const Parts parts_;
    Wakeup wakeup_;
    WorkerMetrics metrics_;
    std::unique_ptr<HttpWire> wire_;
    const std::unique_ptr<broker::Broker> broker_;  // null: tasks come from the servers
    const engine::BrokerQueues queues_;
    const std::unique_ptr<BrokerWire> broker_wire_;  // likewise
    WorkerLoop loop_;
    std::unique_ptr<http_server::Server> server_;  // null: no metrics
    mutable Mutex mutex_;
    std::optional<Error> failure_ KSANA_GUARDED_BY(mutex_);
    LoopThread thread_;
};

}  // namespace ksana::worker
