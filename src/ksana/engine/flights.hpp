#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/clock.hpp"
#include "ksana/base/time.hpp"
#include "ksana/engine/executor.hpp"
#include "ksana/model/decide.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::engine {

// Why an attempt was asked to stop.
enum class StopReason : std::uint8_t {
    kNone,
    kCancelled,  // somebody wants it to stop
    kTimeout,    // it took too long
    kShutdown,   // this node ends
    kLost,       // it belongs to somebody else by now
};

// An attempt under way on this node.
struct Flight {
    model::Run run;
    std::string job_name;
    SteadyPoint started_at{};
    SteadyPoint renew_at{};    // the lease is to be renewed then; max(): it is lost
    SteadyPoint overdue_at{};  // it is asked to stop then
    StopReason stop = StopReason::kNone;
};

// An attempt that is over and not yet reported.
struct Landing {
    Flight flight;
    model::Event event;
    SteadyPoint at{};
};

// The attempts under way on this node, and how many more there is room for. Thread-safe: executors
// land on their own threads, planner and dispatcher share the room.
class Flights {
  public:
    // `changed` is called, without a lock, when something has landed, or when room that somebody
    // asked for in vain has come free.
    Flights(const Clock& clock, std::size_t slots, Duration lease, std::function<void()> changed)
        : clock_(clock), slots_(slots), lease_(lease), changed_(std::move(changed)) {}

    // Keeps room for at most so many; the answer is how many.
    std::size_t Reserve(std::size_t most);
    // The same, but of what there is only a half: the planner, whose runs then need no claim, must
    // not find nothing because a claim is under way.
    std::size_t ReserveHalf(std::size_t most);
    void GiveBack(std::size_t slots);

    // Begins a flight in a slot that was reserved.
    void TakeOff(const Task& task);
    void Named(std::string_view exec_id, std::string job_name);
    // The executor's answer. One for a flight that is not known is dropped.
    void Land(const std::string& exec_id, model::Event event);
    // All that has landed since the last time; their slots are free again.
    std::vector<Landing> TakeLanded();
    // They could not be reported: they wait, and take up room, until the next TakeLanded.
    void PutBack(std::vector<Landing> landings);

    // Those whose lease is to be renewed by now, or all of them.
    std::vector<store::RunEvent> Renewals(SteadyPoint now, bool all);
    // A renewal that was asked for at `asked_at` has been committed.
    void Renewed(const std::string& exec_id, SteadyPoint asked_at);
    // The lease is somebody else's, or nobody's: it is not renewed any more.
    void Lost(const std::string& exec_id);

    // Remembers why; false: it is over, or was asked before.
    bool Stop(const std::string& exec_id, StopReason reason);
    // Why it was asked to stop; nothing when it is not under way.
    std::optional<StopReason> StopOf(const std::string& exec_id) const;
    // Those that took too long and were not yet asked to stop.
    std::vector<std::string> Overdue(SteadyPoint now);
    std::vector<std::string> All() const;

    // How long until a renewal or the next overdue one; none: nothing under way.
    std::optional<Duration> UntilAttention(SteadyPoint now) const;

    // No room from now on.
    void Close();
    // Room again; Close is over.
    void Open();
    bool HasRoom() const;
    std::size_t UnderWay() const;
    bool Idle() const;  // nothing under way, and nothing landed that was not taken

  private:
    // These: with mutex_ held.
    std::size_t Room() const;
    std::size_t Take(std::size_t given);

    const Clock& clock_;
    const std::size_t slots_;
    const Duration lease_;
    const std::function<void()> changed_;

    mutable std::mutex mutex_;
    std::map<std::string, Flight, std::less<>> under_way_;  // by exec_id
    std::vector<Landing> landed_;
    std::size_t reserved_ = 0;
    bool wanted_ = false;  // somebody found no room
    bool closed_ = false;
};

}  // namespace ksana::engine
