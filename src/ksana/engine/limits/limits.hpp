#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/engine/callbacks/callback_call.hpp"
#include "ksana/engine/limits/breaker.hpp"
#include "ksana/engine/limits/recent_starts.hpp"
#include "ksana/engine/limits/token_bucket.hpp"
#include "ksana/model/job/limit.hpp"
#include "ksana/model/job/limit_share.hpp"

namespace ksana::engine {

// The properties of an attempt to which limits apply.
struct LimitSubject {
    std::string group;  // of the run's job; empty: none
    // Empty: none.
    std::string type;
    std::string host;  // host and port; empty: the attempt calls no host
    // The host with the path of the URL as the job has it, without query and with its placeholders.
    std::string path;
};

LimitSubject SubjectOf(const model::Run& run, const model::Job* job, const CallbackCall* callback);

// Makes a key such as "group:etl", and splits it again.
std::string LimitKey(model::LimitKind kind, std::string_view name);
model::LimitKind KindOfLimitKey(std::string_view key);
std::string_view NameOfLimitKey(std::string_view key);

// What this node may use of a limit that it shares with others.
struct ShareUse {
    std::string owner;  // of the share; Node fills it in
    std::int64_t places = 0;
    std::int64_t starts = 0;  // of Rate::count
};

// A limit and its current use on this node.
struct LimitUse {
    struct BreakerUse {
        BreakerState state = BreakerState::kClosed;
        int failures = 0;
        std::optional<Duration> retry_in;  // in state kOpen only
    };
    model::LimitKind kind = model::LimitKind::kNode;
    std::string name;
    model::Limit limit;
    std::size_t in_use = 0;
    std::size_t waiting = 0;  // in memory only, without attempts that were given back to the store
    std::optional<BreakerUse> breaker;
    std::optional<ShareUse> share;  // where several nodes share the limit
};

// All limits of this node, or its shares of them, and the circuit breakers of its destinations:
// decides whether an attempt may start, and counts those that did. It keeps no queue: a refused
// caller waits elsewhere and asks again. Owned by Node, shared by all dispatchers and AgentLimits.
// Thread-safe; calls no other class of the engine.
class LimitTracker {
    struct Line;  // the state of one limit, by key

  public:
    struct Options {
        std::optional<model::Rate> node_rate;
        BreakerOptions breaker;
        std::string name;  // of the node, for the jitter of its breakers
        // Limits are divided among the nodes of a store: each allows nothing until LimitShares has
        // brought a share of it.
        bool shared = false;
    };

    // The limits that an attempt holds, from TryTake to GiveBack.
    struct Ticket {
        std::vector<std::shared_ptr<Line>> lines;
        SteadyPoint since{};
        // The attempt probes the open breaker of its host, or of its path.
        bool probe = false;
        bool path_probe = false;

        bool probes() const { return probe || path_probe; }
    };

    struct Answer {
        enum class Kind : std::uint8_t {
            kGranted,
            kWaits,  // wait in memory, until capacity is given back or `again`
            kLater,  // not worth waiting for in memory; ask again after `after`
        };
        Kind kind = Kind::kGranted;
        std::string key;       // of the limit in the way
        bool breaker = false;  // the destination's breaker is in the way
        SteadyPoint again = SteadyPoint::max();
        Duration after{};
        Ticket ticket;  // of kGranted only
    };

    explicit LimitTracker(Options options);

    // Returns whether any limit or failing destination exists. Usually there is none, and this
    // atomic load is the whole cost.
    bool active() const { return active_.load(std::memory_order_relaxed); }

    // Returns when the node's own rate allows the next start; min(): the node has no rate.
    SteadyPoint NodeFreeAt() const;

    // Takes capacity from all limits of the subject, or from none of them.
    Answer TryTake(const LimitSubject& subject, SteadyPoint now);
    // Counts an attempt that has already started toward limits that were added since.
    void Join(Ticket& ticket, const LimitSubject& subject, SteadyPoint now);
    void GiveBack(const Ticket& ticket, SteadyPoint now);

    // The number of runs that a type with a limit has room for now, and if that is none, when the
    // next token is available. For AgentLimits, whose runs are started by agents.
    struct TypeRoom {
        std::string type;
        std::size_t room = 0;
        SteadyPoint again = SteadyPoint::max();
    };
    std::vector<TypeRoom> TypeRooms(SteadyPoint now) const;
    // Notes how many runs of the type a claim under way may start: other nodes do not get the room
    // that they need. 0: it is over.
    void PromiseType(std::string_view type, std::size_t runs);
    // Counts a started run toward its type's limit, even beyond it. The ticket has no lines if the
    // type has no limit.
    Ticket TakeType(std::string_view type, SteadyPoint now);

    // What an attempt learned about its destination.
    struct Sign {
        LimitSubject subject;
        model::TargetHealth sign = model::TargetHealth::kNone;
        SteadyPoint began{};
        bool probe = false;
        bool path_probe = false;
        std::optional<Duration> retry_after;  // of the path
    };
    // Passes an ended attempt's observation to the breakers of its host and of its path: only a
    // host that cannot be reached is down, and what a path answers holds for that path. If the
    // attempt was a failed probe, returns the time until the run may be tried again: the failure
    // then says nothing about the run itself.
    std::optional<Duration> Tell(const Sign& sign, SteadyPoint now);

    // Forgets what is known about a host, with or without a port, and about its paths, as if they
    // had answered: calls go out at once. Returns whether there was anything. Attempts that were
    // sent away come back within BreakerOptions::longest_pause.
    bool ResetBreakers(std::string_view host);

    // Returns how many attempts may wait in memory for a key: as many as start within the next
    // seconds.
    std::size_t MayWait(const std::string& key) const;
    // Assigns a place behind the attempts that wait in memory and those that were sent away before:
    // how long to stay away, and how many attempts are ahead.
    struct Place {
        Duration after{};
        std::size_t before = 0;
    };
    Place TakePlace(const std::string& key, std::size_t waiting, SteadyPoint now);

    // Replaces all limits, by key. Returns false if nothing changed.
    bool Configure(const std::map<std::string, model::Limit>& limits);

    // Sets the function that is called when a start needs more than this node's share, or when what
    // others wait for can be given up. Set before the first start; called on any thread, perhaps
    // with locks of the caller held, so it must only wake a loop.
    void OnShareNeed(std::function<void()> need) { need_ = std::move(need); }
    // Sets the function that is called when a share has grown. As OnShareNeed, but called by the
    // loop of LimitShares.
    void OnRoom(std::function<void()> room) { room_ = std::move(room); }
    void TellRoom() const {
        if (room_) room_();
    }

    // A limit that this node uses, waits for, or holds a share of.
    struct Shared {
        std::string key;
        std::size_t in_use = 0;
        std::size_t agents_wait = 0;  // tasks that agents asked for, beyond the share
        SteadyPoint touched{};        // when it was last used or asked for
        bool asks = false;            // LimitShares does not know yet what it needs
    };
    std::vector<Shared> SharedLimits(SteadyPoint now) const;
    // How to turn this node's steady time into the store's: the store said `store` after `steady`.
    struct StoreTime {
        TimePoint store{};
        SteadyPoint steady{};
    };
    using Decide =
        std::function<model::ShareOutcome(const model::Limit&, const model::ShareRequest&)>;
    // Lets `decide` compute the node's share from its current use, which it completes, and gives up
    // at once what the share does not contain any more: the others may learn of it from now on.
    // Returns nothing if the limit was deleted.
    std::optional<model::ShareOutcome> Renegotiate(const std::string& key,
                                                   model::ShareRequest request,
                                                   const StoreTime& time, SteadyPoint now,
                                                   const Decide& decide);
    // Uses the share until `until`, after it was stored. Returns whether it has grown.
    bool Grant(const std::string& key, const model::ShareOutcome& outcome, SteadyPoint until,
               SteadyPoint now);
    // Notes that agents wait for so many tasks of a type for which the share has no room.
    void WantType(std::string_view type, std::size_t tasks, SteadyPoint now);

    // Returns all limits except the node's own, by key, and the hosts and paths that have failed
    // lately. Leaves `waiting` for the caller to fill in.
    std::vector<LimitUse> Uses(SteadyPoint now) const;

  private:
    struct Host {  // a host or a path with a recent failure
        Breaker breaker;
        std::int64_t given_back = 0;  // attempts since the breaker opened
    };
    using Lines = std::map<std::string, std::shared_ptr<Line>, std::less<>>;

    std::vector<std::shared_ptr<Line>> LinesOf(const LimitSubject& subject) const
        KSANA_REQUIRES(mutex_);
    // Sets `asks` if LimitShares must be woken.
    Answer TryTakeLocked(const LimitSubject& subject, SteadyPoint now, bool& asks)
        KSANA_REQUIRES(mutex_);
    // `name`: of a host or a path.
    std::optional<Answer> AskBreaker(const std::string& name, SteadyPoint now)
        KSANA_REQUIRES(mutex_);
    bool BeginCall(const std::string& name) KSANA_REQUIRES(mutex_);
    struct NamedSign {
        const std::string& name;
        model::TargetHealth sign;  // kDown, kAnswered or kNone
        SteadyPoint began;
        bool probe;
        std::optional<Duration> retry_after;
    };
    std::optional<Duration> TellOne(const NamedSign& sign, SteadyPoint now) KSANA_REQUIRES(mutex_);
    Duration Away(const Breaker& breaker, SteadyPoint now) const;
    void NoteActive() KSANA_REQUIRES(mutex_);
    void TellNeed() const {
        if (need_) need_();
    }

    const Options options_;
    std::function<void()> need_;
    std::function<void()> room_;
    std::atomic<bool> active_{false};
    mutable Mutex mutex_;
    std::optional<TokenBucket> node_ KSANA_GUARDED_BY(mutex_);
    Lines lines_ KSANA_GUARDED_BY(mutex_);  // also guards the contents of the lines
    std::map<std::string, Host, std::less<>> hosts_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::engine
