#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/dispatch/executor.hpp"
#include "ksana/worker/held_tasks.hpp"
#include "ksana/worker/protocol.hpp"
#include "ksana/worker/wire.hpp"

namespace ksana::worker {

struct LoopOptions {
    Identity identity;
    Duration lease = std::chrono::seconds(30);
    Duration wait = std::chrono::seconds(20);  // of one long poll; at most two thirds of the lease
    // After a drain: how long attempts may go on before they are stopped and given back.
    Duration drain_timeout = std::chrono::seconds(30);
    // How long attempts that were asked to stop may take at the end of the worker.
    Duration stop_grace = std::chrono::seconds(5);
};

// The life of a worker as the server sees it: registers, beats, claims by long poll, renews leases,
// reports ends, drains, leaves. Each kind of call is under way at most once and waits for no other.
// A class without a thread: RunOnce does what is due and starts calls, whose answers wake it up.
//
// RunOnce belongs to one thread; Drain, Hurry and the figures to any.
class WorkerLoop {
  public:
    // Everything must outlive the loop; the wire must have ended its calls before. `wakeup` is
    // notified when RunOnce is to be called.
    struct Parts {
        Clock& clock;
        Wire& wire;
        std::vector<engine::Executor*> executors;
        Wakeup& wakeup;
        AttemptEnded ended = {};
    };

    WorkerLoop(LoopOptions options, Parts parts);
    ~WorkerLoop();

    // Returns when to call it again, if nothing wakes it up before.
    SteadyPoint RunOnce();
    // Whether the worker is done: RunOnce has nothing to do any more.
    bool over() const { return phase_ == Phase::kOver; }
    // Why it ended; none: it was asked to.
    const std::optional<Error>& failure() const { return failure_; }

    // Claims nothing more, lets attempts finish within the drain timeout, and leaves.
    void Drain();
    // Lets them finish no longer.
    void Hurry();

    std::size_t running() const { return held_->running(); }
    std::size_t pending() const { return held_->pending(); }
    bool registered() const { return registered_; }

  private:
    enum class Phase : std::uint8_t {
        kServing,
        kDraining,   // claims nothing, attempts go on
        kReleasing,  // attempts are asked to stop
        kReporting,  // what is left is given back
        kLeaving,    // deregisters
        kFenced,     // the server does not know this worker any more: attempts are asked to stop
        kOver,
    };
    // A kind of call.
    struct Slot {
        bool busy = false;
        SteadyPoint not_before{};
        Wire::CallId id = 0;
        std::uint64_t turn = 0;  // of the wire, when it was sent
        bool cancelled = false;
    };
    using Handle = void (WorkerLoop::*)(const WireAnswer&, SteadyPoint sent_at);
    struct Inbox;

    void TakeAnswers();
    void ObeyWishes(SteadyPoint now);
    void SendAll(SteadyPoint now);
    void Advance(SteadyPoint now);
    SteadyPoint NextTime(SteadyPoint now) const;

    bool MaySend(const Slot& slot, SteadyPoint now) const {
        return !slot.busy && slot.not_before <= now;
    }
    void Send(Slot& slot, WireCall call, std::function<void(const WireAnswer&)> handle);
    void SendRegistration(SteadyPoint now);
    void SendHeartbeat(SteadyPoint now);
    void SendBeats(SteadyPoint now);
    void SendEnds(SteadyPoint now);
    void SendClaim(SteadyPoint now);
    void SendFarewell(SteadyPoint now);
    void DropStalePoll();

    void OnRegistered(const WireAnswer& answer);
    void OnHeartbeat(const WireAnswer& answer);
    void OnBeats(const WireAnswer& answer, std::vector<HeldTasks::Report> beats,
                 SteadyPoint sent_at);
    void OnEnds(const WireAnswer& answer, const std::vector<HeldTasks::Report>& reports,
                bool claimed, SteadyPoint sent_at);
    void OnClaimed(const WireAnswer& answer, SteadyPoint sent_at, Duration waited);
    void EndsFailed(const WireAnswer& answer, const std::vector<HeldTasks::Report>& reports);
    void Begin(const codec::Json& answer, SteadyPoint sent_at);

    std::vector<Verdict> VerdictsOf(const WireAnswer& answer,
                                    const std::vector<HeldTasks::Report>& reports);
    // Handles what every call may be answered: the name is another's, or is forgotten.
    bool IsExpelled(const WireAnswer& answer);
    void Fence(const std::string& why);
    void DrainAsAsked();
    void Enter(Phase phase, SteadyPoint until);
    void LeaveServer();
    bool Claims() const { return phase_ == Phase::kServing && registered_; }
    ClaimWish WishFor(std::size_t free, Duration wait) const;
    engine::Executor* ExecutorFor(const model::Run& run) const;

    const LoopOptions options_;
    const Parts parts_;
    const std::shared_ptr<Inbox> inbox_;
    const std::shared_ptr<HeldTasks> held_;
    std::atomic<bool> drain_wanted_{false};
    std::atomic<bool> hurry_wanted_{false};
    std::atomic<bool> registered_{false};
    // Used by RunOnce only:
    Phase phase_ = Phase::kServing;
    SteadyPoint phase_until_ = SteadyPoint::max();
    std::optional<Error> failure_;
    bool was_registered_ = false;
    bool told_draining_ = false;
    bool one_by_one_ = false;  // a report of the last batch was refused
    Duration heartbeat_ = std::chrono::seconds(30);
    Slot registration_;
    Slot heartbeat_slot_;
    Slot beats_;
    Slot ends_;
    Slot claim_;
    Slot farewell_;
};

}  // namespace ksana::worker
