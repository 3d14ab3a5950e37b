#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/limits/limits.hpp"
#include "ksana/engine/loop.hpp"
#include "ksana/model/job/limit_share.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// The settings keys of shares, followed by the key of the limit: "limit_share/group:etl".
inline constexpr std::string_view kShareSettings = "limit_share/";

// A share is renewed after a third of this. The share of a node that is gone is free after it.
inline constexpr Duration kShareLease = std::chrono::seconds(5);

// Returns the stored shares of all limits that nodes use now, by LimitTracker key. Logs and skips
// what cannot be parsed.
struct StoredShares {
    model::ShareBook book;
    std::int64_t version = 0;
};
Result<std::map<std::string, StoredShares>> ReadShares(store::Store& store);

// Divides limits among the nodes of a store: asks for shares of the limits that this node uses,
// renews them, and gives up what others want (model/job/limit_share.hpp has the rules). A limit
// without use and demand costs nothing. Without an answer of the store the shares end, and nothing
// more starts under these limits. A loop of Node; RunOnce and Leave must not overlap, Hint may be
// called by any thread.
class LimitShares {
  public:
    struct Options {
        std::string owner;
        // Returns how many runs wait for a limit in memory, by key.
        std::function<std::map<std::string, std::size_t>()> waiting;
        std::function<void()> grown;  // waiting runs may start
    };

    // All arguments must outlive the object.
    LimitShares(store::Store& store, LimitTracker& limits, const Clock& clock, Options options)
        : store_(store), limits_(limits), clock_(clock), options_(std::move(options)) {}

    // Notes that another node wants or gives up something. Returns whether RunOnce has work.
    bool Hint();
    // Returns the store's error. What was not stored is tried again by the next call.
    Result<Step> RunOnce();
    // Gives all shares back, when the node stops. If the store does not answer, they end by
    // themselves.
    void Leave();

  private:
    struct Pass {
        LimitTracker::StoreTime time;
        std::map<std::string, StoredShares> stored;
        std::map<std::string, std::size_t> waiting;
        bool all_leave = false;
        bool grown = false;
        Step step;
    };

    bool IsDue(const std::vector<LimitTracker::Shared>& uses, SteadyPoint now) const;
    SteadyPoint RenewAt(const std::string& key) const;
    Result<Pass> Begin();
    Result<void> Settle(const LimitTracker::Shared& use, Pass& pass);
    Result<bool> TryToStore(const std::string& key, const model::ShareOutcome& outcome,
                            std::int64_t version, TimePoint now);
    bool MustStore(const std::string& key, const model::ShareOutcome& outcome,
                   const StoredShares& before) const;

    store::Store& store_;
    LimitTracker& limits_;
    const Clock& clock_;
    const Options options_;
    std::atomic<bool> concerned_{false};  // this node has shares or waits for some
    std::atomic<bool> changed_{false};    // another node has changed something
    std::atomic<bool> storing_{false};    // a commit of this object is in flight
    // Used by RunOnce and Leave only:
    std::map<std::string, SteadyPoint> stored_at_;  // when the share was last stored, by key
    SteadyPoint passed_at_ = SteadyPoint::min();
    bool unfinished_ = false;  // the last pass failed
};

}  // namespace ksana::engine
