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

// What one rule observed about one job or type.
struct RuleObservation {
    const model::AlertRule* rule = nullptr;
    std::string subject;
    model::AlertObservation observation;
};

// Scans the store for what alert rules watch, from the cursor on: ended runs, ledger entries and,
// if a rule needs them, runs that run or wait too long or are held. One scan reads a bounded number
// of runs. Repeated observations are equal and count once. Owned by Alerter, on its thread. Returns
// the store's error.
class AlertScanner {
  public:
    struct Options {
        // How much later than its timestamp a commit may become visible.
        Duration settle = std::chrono::seconds(1);
    };

    // `store` must outlive the scanner.
    AlertScanner(store::Store& store, Options options) : store_(store), options_(options) {}

    struct Found {
        std::vector<RuleObservation> observations;  // ordered by time
        bool more = false;                          // scan again at once
    };
    // Scans once and advances the cursor. `recovering`: there are incidents that a successful run
    // may close.
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
    // Where the next part of each list begins; empty: at the front.
    std::string running_place_;
    std::string waiting_place_;
    std::string held_place_;
};

}  // namespace ksana::engine
