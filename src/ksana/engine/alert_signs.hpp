#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ksana/base/result.hpp"
#include "ksana/codec/alert_codec.hpp"
#include "ksana/engine/alert_shelf.hpp"
#include "ksana/model/alert_decide.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// What one rule sees about one job or type.
struct FoundSign {
    const model::AlertRule* rule = nullptr;
    std::string subject;
    model::AlertSign sign;
};

// Looks in the store for what rules are about, from where it looked last: runs that have ended,
// entries of the ledger, and, where a rule asks for that, runs that are under way or wait too long,
// or that are held.
// Bounded in what one look reads. What is seen twice is the same sign, which counts once. One
// thread.
class AlertSigns {
  public:
    struct Options {
        // A commit may become visible so much later than the time it is stamped with.
        Duration settle = std::chrono::seconds(1);
    };

    AlertSigns(store::Store& store, Options options) : store_(store), options_(options) {}

    struct Found {
        std::vector<FoundSign> signs;  // by their time
        bool more = false;             // look again at once
    };
    // `recovering`: there are incidents that the end of a run may close. Moves the cursor on.
    Result<Found> Look(const std::vector<const model::AlertRule*>& rules, bool recovering,
                       TimePoint now, codec::AlertCursor& cursor);

  private:
    struct Pass;

    Result<void> LookAtEnded(Pass& pass, bool all_states, codec::AlertCursor& cursor);
    Result<void> LookBack(Pass& pass, bool recovering);
    Result<void> LookAtLedger(Pass& pass, codec::AlertCursor& cursor);
    Result<void> Sweep(Pass& pass, store::RunQuery query, std::string& place,
                       const std::function<Result<void>(const model::Run&)>& judge);
    Result<void> LookAtRunning(Pass& pass);
    Result<void> LookAtWaiting(Pass& pass);
    Result<void> LookAtHeld(Pass& pass);
    Result<void> JudgeHeld(Pass& pass, const std::vector<model::Run>& runs);
    Result<bool> IsHeld(Pass& pass, const std::string& subject);
    Result<void> FetchJobs(Pass& pass, const std::vector<model::Run>& runs);
    Result<std::optional<Duration>> MedianOf(Pass& pass, const model::Run& run);
    Result<std::optional<Duration>> LongestOf(Pass& pass, const model::AlertRule& rule,
                                              const model::Run& run);
    Result<void> Judge(Pass& pass, const model::Run& run);

    store::Store& store_;
    const Options options_;
    TimePoint looked_back_at_{};
    // Where the next part of a list begins; empty: at its front.
    std::string running_place_;
    std::string waiting_place_;
    std::string held_place_;
};

}  // namespace ksana::engine
