#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana::sim {

// The first broken invariant; what follows may be a consequence of it.
struct Violation {
    std::string invariant;  // "I2", as docs/testing.md names them
    std::string what;
    std::string job_id;  // the job and run concerned; may be empty
    std::string run_id;
    TimePoint at{};
};

// Time, randomness and the order of events: the true time, a queue of future events, one random
// generator, and a log of what happened (the story). Owned by a simulator; everything runs on one
// thread.
class World {
  public:
    using Action = std::function<void()>;

    World(std::uint64_t seed, TimePoint start);

    // Time ------------------------------------------------------------------------------------
    TimePoint now() const { return now_; }
    // Follows the true time, unless it is set.
    FakeClock& store_clock() { return store_clock_; }
    void SetStoreClock(Duration by) {
        store_clock_was_set_ = true;
        store_clock_.JumpWall(by);
    }
    bool store_clock_was_set() const { return store_clock_was_set_; }
    void At(TimePoint when, Action action);
    void After(Duration delay, Action action) { At(now_ + delay, std::move(action)); }
    // Runs the events up to `until`, or until an invariant is broken. May be called from inside an
    // action: while one actor waits, the others continue.
    void RunUntil(TimePoint until);

    // Chance ----------------------------------------------------------------------------------
    Random& random() { return random_; }
    std::uint64_t Below(std::uint64_t bound) { return random_.Below(bound); }
    bool Chance(std::uint64_t of_a_thousand) { return random_.Below(1000) < of_a_thousand; }
    Duration Between(Duration least, Duration most);

    // The actor that runs now (a node's number, or kNobody), whose commits these are.
    static constexpr int kNobody = -1;
    int actor() const { return actor_; }
    // Runs `call` as `actor`.
    template <class F>
    auto As(int actor, const F& call) {
        const int before = actor_;
        actor_ = actor;
        struct Restore {
            World& world;
            int before;
            ~Restore() { world.actor_ = before; }
        } const restore{*this, before};
        return call();
    }

    // The story -------------------------------------------------------------------------------
    // Keeps only the first violation.
    void Fail(Violation violation);
    const std::optional<Violation>& violation() const { return violation_; }

    // Adds an event to the hash. `text` is called only if the story of this job is recorded, which
    // is when a seed runs for the second time.
    void Note(std::string_view job_id, std::uint64_t what,
              const std::function<std::string()>& text);
    void RecordStoryOf(std::string job_id) { story_of_ = std::move(job_id); }
    const std::vector<std::string>& story() const { return story_; }
    std::uint64_t hash() const { return hash_; }
    std::int64_t events() const { return events_; }

  private:
    struct Event {
        TimePoint when;
        std::uint64_t order;
        Action action;
    };
    struct Later {
        bool operator()(const Event& a, const Event& b) const {
            return a.when != b.when ? a.when > b.when : a.order > b.order;
        }
    };

    void MoveTo(TimePoint when);

    TimePoint now_;
    FakeClock store_clock_;
    bool store_clock_was_set_ = false;
    SeededRandom random_;
    std::priority_queue<Event, std::vector<Event>, Later> queue_;
    std::uint64_t order_ = 0;
    std::int64_t events_ = 0;
    int actor_ = kNobody;
    std::optional<Violation> violation_;
    std::uint64_t hash_ = 0;
    std::optional<std::string> story_of_;
    std::vector<std::string> story_;
};

// The clock of a node: true time plus an error that can be changed. The steady clock has no error.
class SimClock final : public Clock {
  public:
    explicit SimClock(const World& world) : world_(world) {}

    TimePoint Now() const override { return world_.now() + error_; }
    SteadyPoint SteadyNow() const override { return SteadyPoint(world_.now().time_since_epoch()); }
    // Returns at once: in a world of one thread no call may block.
    WaitOutcome Wait(Wakeup&, SteadyPoint, const std::stop_token&) override {
        return WaitOutcome::kDeadline;
    }

    void SetError(Duration error) { error_ = error; }
    Duration error() const { return error_; }

  private:
    const World& world_;
    Duration error_{};
};

}  // namespace ksana::sim
