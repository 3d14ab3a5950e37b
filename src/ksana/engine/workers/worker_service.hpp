#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/engine/actor.hpp"
#include "ksana/engine/workers/agent_presence.hpp"
#include "ksana/engine/workers/worker_directory.hpp"
#include "ksana/model/run/agent.hpp"
#include "ksana/model/worker.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// What workers tell the server (D-05, D-06), and what users ask about them. Owned by the server.
// Thread-safe; all calls run on the caller's thread and return the store's error if it fails.
class WorkerService {
  public:
    struct Options {
        Duration heartbeat = model::kDefaultWorkerHeartbeat;  // how often workers are to beat
        store::FollowUp follow_up;                            // may be empty
    };

    // A worker with what is said about it at the time of the call.
    struct Shown {
        model::Worker worker;
        model::WorkerState state = model::WorkerState::kAlive;
    };

    // `store`, `directory` and `agents` must outlive it.
    WorkerService(store::Store& store, WorkerDirectory& directory, AgentPresence& agents,
                  Options options)
        : store_(store), directory_(directory), agents_(agents), options_(std::move(options)) {}

    // Registers a worker. The attempts of another incarnation under the same name are taken from it
    // before the call returns. kInvalidArgument names every fault.
    Result<Shown> Register(model::Worker worker);
    // kNotFound: not registered, or forgotten. kLeaseLost: another incarnation has the name.
    Result<Shown> Beat(const store::Heartbeat& beat);
    // The worker has left; what it still held is taken from it. Errors as for Beat.
    Result<void> Deregister(const std::string& id, const Uuid& incarnation);
    // Asks a worker to take no more runs. kConflict: it is an agent or has left.
    Result<Shown> Drain(const std::string& id, const Actor& by);

    Result<Shown> Get(const std::string& id);
    // The runs that the worker works on now, at most kMaxShownRuns.
    Result<std::vector<model::Run>> RunsOf(const model::Worker& worker);
    Result<store::Page<Shown>> List(const store::ListParams& params);

    // Completes a claim from the registration of its worker: labels, slots, types. Returns false if
    // the worker drains and gets nothing. An agent is noted instead. Errors as for Beat, and
    // kInvalidArgument for kinds that the worker did not register.
    Result<bool> Admit(model::AgentClaim& claim);

    Duration heartbeat() const { return options_.heartbeat; }

    static constexpr std::size_t kMaxShownRuns = 100;

  private:
    Shown Show(model::Worker worker) const;
    Result<model::Worker> Registered(const model::AgentClaim& claim);

    store::Store& store_;
    WorkerDirectory& directory_;
    AgentPresence& agents_;
    const Options options_;
};

}  // namespace ksana::engine
