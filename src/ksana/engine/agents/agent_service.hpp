#pragma once

#include <cstdint>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/limits/agent_limits.hpp"
#include "ksana/engine/observer.hpp"
#include "ksana/model/run/agent.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Where agents come, programs that fetch runs of the queue and report on them, whichever door they
// use. What they say is fenced by the exec_id of the attempt; a report that comes too late changes
// nothing, is counted and goes to the log. Thread-safe.
class AgentService {
  public:
    struct Options {
        store::FollowUp follow_up;      // may be empty
        Observer* observer = nullptr;   // may be null
        AgentLimits* limits = nullptr;  // likewise
    };

    // What is given must outlive it.
    AgentService(store::Store& store, Options options)
        : store_(store), options_(std::move(options)) {}

    // The reports, each on what the one before it left, then the claim, in one transaction. The
    // claim's `wait` is the caller's business.
    Result<store::Exchanged> Exchange(std::vector<model::RunEvent> reports,
                                      const std::optional<model::AgentClaim>& claim);

    // One report. kLeaseLost: it came too late. kNotFound: there is no such run. kConflict: not
    // possible as the run is.
    Result<store::Applied> Report(model::RunEvent report);

    // Claims of several agents in one transaction: one outcome for each, in order. Of those with
    // the same filter the rest gets nothing once one was not filled.
    Result<std::vector<store::Claimed>> ClaimAll(const std::vector<model::AgentClaim>& claims);

    // Tells the observer that this run was stored as started by an agent (AgentPolls::Reserve).
    void NoteStarted(const model::Run& run) const;

    // Gives back what nobody will work on, because whoever asked for it is gone. Nothing is used
    // up. What cannot be given back now comes free when its lease runs out.
    void GiveBack(const std::vector<model::Run>& runs);

    AgentLimits* limits() const { return options_.limits; }

    static store::ClaimFilter FilterOf(const model::AgentClaim& claim);

  private:
    // What is kept of a report while it is with the store.
    struct Said {
        Uuid run_id;
        model::EventKind kind;
        std::string exec_id;
        Duration lease{};  // of a heartbeat
    };

    void Note(const Said& said, const store::Applied& applied) const;
    void Note(const store::Claimed& claimed) const;
    void NoteLimits(const Said& said, const store::Applied& applied) const;
    bool IsLimited(const model::AgentClaim& claim) const;

    store::Store& store_;
    const Options options_;
};

}  // namespace ksana::engine
