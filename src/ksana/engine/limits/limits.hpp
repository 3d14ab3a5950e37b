#pragma once

#include <atomic>
#include <cstdint>
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
#include "ksana/engine/limits/token_bucket.hpp"
#include "ksana/model/job/limit.hpp"

namespace ksana::engine {

// What limits look at in an attempt.
struct LimitSubject {
    std::string group;  // of its job; empty: none
    std::string type;
    std::string host;  // with its port
};

LimitSubject SubjectOf(const model::Run& run, const model::Job* job, const CallbackCall* callback);

// "group:etl", and back.
std::string LimitKey(model::LimitKind kind, std::string_view name);
model::LimitKind KindOfLimitKey(std::string_view key);
std::string_view NameOfLimitKey(std::string_view key);

// A limit and what it is doing now, on this node.
struct LimitUse {
    struct BreakerUse {
        BreakerState state = BreakerState::kClosed;
        int failures = 0;
        std::optional<Duration> retry_in;  // of kOpen
    };
    model::LimitKind kind = model::LimitKind::kNode;
    std::string name;
    model::Limit limit;
    std::size_t in_use = 0;
    std::size_t waiting = 0;  // in memory; what was given back to the store is not among them
    std::optional<BreakerUse> breaker;
};

// All limits of this node and the breakers of the destinations that it calls: says who may start,
// and counts who did. It keeps nobody: whoever is refused waits elsewhere and asks again.
// Thread-safe; calls nobody.
class LimitTracker {
    struct Line;  // of one key

  public:
    struct Options {
        std::optional<model::Rate> node_rate;
        BreakerOptions breaker;
        std::string name;  // of the node, for the jitter of its breakers
    };

    // What a start holds, from TryTake to GiveBack.
    struct Ticket {
        std::vector<std::shared_ptr<Line>> lines;
        SteadyPoint since{};
        bool probe = false;  // sees whether an open breaker can be closed
    };

    struct Answer {
        enum class Kind : std::uint8_t {
            kGranted,
            kWaits,  // soon: when something is given back, or at `again`
            kLater,  // not worth waiting for: after `after`
        };
        Kind kind = Kind::kGranted;
        std::string key;       // of what is in the way
        bool breaker = false;  // it is the destination's breaker
        SteadyPoint again = SteadyPoint::max();
        Duration after{};
        Ticket ticket;  // of kGranted
    };

    explicit LimitTracker(Options options);

    // Whether there is anything to ask about: no limit, and every destination answers, is the usual
    // case and costs no more than this.
    bool active() const { return active_.load(std::memory_order_relaxed); }

    // When the node's own rate allows the next start.
    SteadyPoint NodeFreeAt() const;

    Answer TryTake(const LimitSubject& subject, SteadyPoint now);
    // It has started already, and limits have come since: it counts for them, too.
    void Join(Ticket& ticket, const LimitSubject& subject, SteadyPoint now);
    void GiveBack(const Ticket& ticket, SteadyPoint now);

    // For runs that others start (AgentLimits): how many each type with a limit has room for now,
    // and where that is none, when a token comes.
    struct TypeRoom {
        std::string type;
        std::size_t room = 0;
        SteadyPoint again = SteadyPoint::max();
    };
    std::vector<TypeRoom> TypeRooms(SteadyPoint now) const;
    // One has started: it counts, whether there was room or not. No lines: its type has no limit.
    Ticket TakeType(std::string_view type, SteadyPoint now);

    struct Sign {
        std::string host;
        model::TargetHealth sign = model::TargetHealth::kNone;
        SteadyPoint began{};
        bool probe = false;
        std::optional<Duration> retry_after;
    };
    // What an attempt that is over tells about its destination. The answer is how long until the
    // next probe when this was one and nobody was there: then it says nothing new about the run.
    std::optional<Duration> Tell(const Sign& sign, SteadyPoint now);

    // How many are worth keeping in memory for a key: as many as start in the next seconds.
    std::size_t MayWait(const std::string& key) const;
    // A place behind those that wait in memory and those that were sent away before: when to ask
    // again, and how many are before it.
    struct Place {
        Duration after{};
        std::size_t before = 0;
    };
    Place TakePlace(const std::string& key, std::size_t waiting, SteadyPoint now);

    // All limits there are, by key. False: they are as they were.
    bool Configure(const std::map<std::string, model::Limit>& limits);

    // By key, without the node's own. `waiting` is for the caller to fill in.
    std::vector<LimitUse> Uses(SteadyPoint now) const;

  private:
    struct Host {  // a destination that had a failure lately
        Breaker breaker;
        std::int64_t sent_away = 0;  // since it opened
    };
    using Lines = std::map<std::string, std::shared_ptr<Line>, std::less<>>;

    std::vector<std::shared_ptr<Line>> LinesOf(const LimitSubject& subject) const
        KSANA_REQUIRES(mutex_);
    std::optional<Answer> AskBreaker(const std::string& host, SteadyPoint now)
        KSANA_REQUIRES(mutex_);
    void NoteActive() KSANA_REQUIRES(mutex_);

    const Options options_;
    std::atomic<bool> active_{false};
    mutable Mutex mutex_;
    std::optional<TokenBucket> node_ KSANA_GUARDED_BY(mutex_);
    Lines lines_ KSANA_GUARDED_BY(mutex_);  // and what is in the lines
    std::map<std::string, Host, std::less<>> hosts_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::engine
