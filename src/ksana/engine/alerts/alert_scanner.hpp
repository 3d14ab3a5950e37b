#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/v1/alert_codec.hpp"
#include "ksana/engine/alerts/alert_repository.hpp"
#include "ksana/model/alert/alert_decide.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// What one rule sees about one job or type.
struct RuleObservation {
    const model::AlertRule* rule = nullptr;
    std::string subject;
    model::AlertObservation observation;
};

// Looks in the store for what rules are about, from where it looked last: runs that have ended,
// entries of the ledger, and, where a rule asks for that, runs that are under way or wait too long,
// or that are held.
// Bounded in what one look reads. What is seen twice is the same observation, which counts once.
// One thread.
class AlertScanner {
  public:
    struct Options {
        // A commit may become visible so much later than the time it is stamped with.
        Duration settle = std::chrono::seconds(1);
    };

    AlertScanner(store::Store& store, Options options) : store_(store), options_(options) {}

    struct Found {
        std::vector<RuleObservation> observations;  // by their time
        bool more = false;                          // look again at once
    };
    // `recovering`: there are incidents that the end of a run may close. Moves the cursor on.
    Result<Found> Look(const std::vector<const model::AlertRule*>& rules, bool recovering,
                       TimePoint now, codec::AlertCursor& cursor);

  private:
    struct Scan;

    Result<void> LookAtEnded(Scan& scan, bool all_states, codec::AlertCursor& cursor);
    Result<void> LookBack(Scan& scan, bool recovering);
    Result<void> LookAtLedger(Scan& scan, codec::AlertCursor& cursor);
    Result<void> Sweep(Scan& scan, store::RunQuery query, std::string& place,
                       const std::function<Result<void>(const model::Run&)>& judge);
    Result<void> LookAtRunning(Scan& scan);
    Result<void> LookAtWaiting(Scan& scan);
    Result<void> LookAtHeld(Scan& scan);
    Result<void> JudgeHeld(Scan& scan, const std::vector<model::Run>& runs);
    Result<bool> IsHeld(Scan& scan, const std::string& subject);
    Result<void> FetchJobs(Scan& scan, const std::vector<model::Run>& runs);
    Result<std::optional<Duration>> MedianOf(Scan& scan, const model::Run& run);
    Result<std::optional<Duration>> LongestOf(Scan& scan, const model::AlertRule& rule,
                                              const model::Run& run);
    Result<void> Judge(Scan& scan, const model::Run& run);

    store::Store& store_;
    const Options options_;
    TimePoint looked_back_at_{};
    // Where the next part of a list begins; empty: at its front.
    std::string running_place_;
    std::string waiting_place_;
    std::string held_place_;
};

}  // namespace ksana::engine
