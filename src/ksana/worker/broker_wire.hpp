#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/loop_thread.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/process/service.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/broker/broker.hpp"
#include "ksana/engine/broker/broker_link.hpp"
#include "ksana/engine/broker/broker_queues.hpp"
#include "ksana/worker/protocol.hpp"
#include "ksana/worker/wire.hpp"

namespace ksana::worker {

// The way to the servers for a worker whose tasks come through a message broker: claims are
// answered with messages of the tasks' queues, and the ends of attempts go to the status queue. All
// other calls (registration, heartbeats, the renewal of leases with what the server answers to it)
// go to the servers over HTTP.
//
// A message is acknowledged when it is received, after the broker has confirmed the news that the
// attempt has begun. As many messages are taken as there are free slots: without a claim nothing is
// consumed, so nothing waits here that another worker could begin.
//
// Owned by the worker. The loop's calls are for any thread; the link belongs to the thread that
// Start begins, or to a test that calls RunOnce in its place.
class BrokerWire final : public Wire, public Service {
  public:
    struct Options {
        Identity identity;
        Duration lease{};
        std::vector<std::string> categories;  // whose queues are consumed; "": of none
    };
    // All must outlive the wire.
    struct Parts {
        Wire& http;
        broker::Broker& broker;
        const engine::BrokerQueues& queues;
        Clock& clock;
        Random& random;
    };

    BrokerWire(Options options, const Parts& parts);
    ~BrokerWire() override;

    std::string_view name() const override { return "broker"; }
    Result<void> Start() override { return thread_.Start(); }
    // Answers the calls that wait.
    void Stop() override;

    CallId Send(WireCall call, Done done) override;
    void Cancel(CallId id) override;
    void Leave() override { parts_.http.Leave(); }
    std::uint64_t turns() const override { return parts_.http.turns(); }
    bool reachable() const override { return parts_.http.reachable() && link_.connected(); }
    std::string server() const override { return parts_.http.server(); }

    // Does what is due. Returns when to call it again, if nothing nudges it before.
    SteadyPoint RunOnce();

  private:
    struct Claim {
        CallId id = 0;
        std::size_t max = 0;
        SteadyPoint until{};
        bool cancelled = false;
        Done done;
    };
    // Reports that go to the status queue in one batch.
    struct Ends {
        std::vector<std::string> reports;
        Done done;
    };

    void Run(const std::stop_token& stop);
    Result<void> Prepare(broker::Link& link);
    Result<void> Consume(broker::Link& link, std::size_t most);
    Result<void> Pause(broker::Link& link);
    void PublishEnds(broker::Link* link);
    Result<std::vector<bool>> Tell(broker::Link& link,
                                   const std::vector<std::string>& reports) const;
    void ServeClaim(broker::Link* link);
    Result<std::vector<std::string>> Take(broker::Link& link, std::size_t most);
    std::string Begun(const codec::Json& task) const;
    std::string Who() const;
    std::optional<std::vector<std::string>> EndsIn(const WireCall& call) const;
    void Lose(const Error& error);
    void Renew(const Error& error);

    const Options options_;
    const Parts parts_;
    engine::BrokerLink link_;
    bool consuming_ = false;  // RunOnce only
    mutable Mutex mutex_;
    std::optional<Claim> claim_ KSANA_GUARDED_BY(mutex_);
    std::deque<Ends> ends_ KSANA_GUARDED_BY(mutex_);
    std::uint64_t last_id_ KSANA_GUARDED_BY(mutex_) = 0;
    LoopThread thread_;
};

}  // namespace ksana::worker
