#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/limits/agent_limits.hpp"
#include "ksana/engine/observer.hpp"
#include "ksana/model/run/agent.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Serves agents: programs that claim queued runs and report on them, over any API. Reports are
// fenced by the exec_id of the attempt; a late report changes nothing, is counted and logged. Owned
// by the server. Thread-safe; all calls run on the caller's thread and return the store's error if
// it fails.
class AgentService {
  public:
    // Which runs a claim asks for: those that name its worker too, or only those that any worker
    // with its labels may get.
    enum class Aim : std::uint8_t { kOwn, kCommon };

    struct Options {
        store::FollowUp follow_up;      // may be empty
        Observer* observer = nullptr;   // may be null
        bool want_runs = false;         // give the observer the runs after their reports
        AgentLimits* limits = nullptr;  // may be null: types have no limits for agents
        // Told how soon the lease or the deadline of a run that was just started may expire, or the
        // lease that a consumer of the message broker has just got: nobody but the reaper notices.
        // May be empty; called by any thread.
        std::function<void(Duration)> expires_in = {};
    };

    // `store` and the pointers in `options` must outlive the service.
    AgentService(store::Store& store, Options options)
        : store_(store), options_(std::move(options)) {}

    // Applies the reports, each to the result of the one before, then claims, in one transaction.
    // Does not wait: `claim->wait` is up to the caller.
    Result<store::Exchanged> Exchange(std::vector<model::RunEvent> reports,
                                      const std::optional<model::AgentClaim>& claim);

    // Applies one report. kLeaseLost: the report is late. kNotFound: no such run. kConflict: not
    // allowed in the run's state.
    Result<store::Applied> Report(model::RunEvent report);

    // Makes claims for several agents in one transaction. Returns one result per claim, in order.
    // Once a claim is not filled, later claims with the same filter get nothing.
    Result<std::vector<store::Claimed>> ClaimAll(const std::vector<model::AgentClaim>& claims,
                                                 Aim aim = Aim::kOwn);

    // Tells the observer that a run was stored as started by an agent (AgentPolls::Reserve).
    void NoteStarted(const model::Run& run) const;

    // Gives back claimed runs whose agent is gone, without using up an attempt. If the store fails,
    // logs that, and the runs become claimable when their leases expire.
    void GiveBack(const std::vector<model::Run>& runs);

    AgentLimits* limits() const { return options_.limits; }

    // The claim for the store: one filter for each kind.
    static store::ClaimParams ParamsOf(const model::AgentClaim& claim, Aim aim);
    // Whether the claim may take the run now.
    static bool Wants(const model::AgentClaim& claim, const model::Run& run, TimePoint now);

  private:
    // The part of a report that is needed after the store has taken the event.
    struct Said {
        Uuid run_id;
        model::EventKind kind;
        std::string exec_id;
        Duration lease{};  // of a heartbeat
        bool by_broker = false;
    };

    void Note(const Said& said, const store::Applied& applied) const;
    void Note(const store::Claimed& claimed) const;
    void NoteLimits(const Said& said, const store::Applied& applied) const;
    bool IsLimited(const store::ClaimParams& params) const;
    bool Narrow(AgentLimits::Turn& turn, store::ClaimParams& params) const;

    store::Store& store_;
    const Options options_;
};

}  // namespace ksana::engine
