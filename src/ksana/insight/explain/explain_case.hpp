#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/insight/explain/explain.hpp"
#include "ksana/insight/explain/explanation.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/schedule/schedule.hpp"
#include "ksana/schedule/zone/zone.hpp"

namespace ksana::insight {

// A question, with the facts that are known before the fire is searched. Internal to the module.
struct ExplainCase {
    const Sources& sources;
    const ExplainParams& params;
    TimePoint now{};
    std::optional<model::Job> job;               // none: unknown, perhaps deleted
    std::optional<schedule::Schedule> schedule;  // none: no job, or it cannot be compiled
    std::string schedule_error;
    std::shared_ptr<const schedule::Zone> zone;  // never null

    Fire FireAt(TimePoint at) const;
    // Whether the current schedule fires at this time; IsBlocked: whether the calendar blocks such
    // a fire.
    bool Fires(TimePoint at) const;
    bool IsBlocked(TimePoint at) const;
    // Whether a user changed the job after this time, so that its schedule may have been different
    // then.
    bool ChangedSince(TimePoint at) const;
    // Every fire up to this time is accounted for.
    TimePoint PlannedUntil() const;
};

// Reads the job and compiles its schedule.
Result<ExplainCase> OpenCase(const Sources& sources, const ExplainParams& params);

// Adds the fires before and after a time, from the creation of the job on.
void AddNearest(const ExplainCase& c, TimePoint around, Explanation& explanation);

// Returns the calendar and, if known, its rule that excludes this fire.
CalendarFacts CalendarFactsOf(const ExplainCase& c, TimePoint at);

enum class FoundKind : std::uint8_t {
    kNone,      // no fire nearby
    kAllowed,   // a fire of the current schedule
    kBlocked,   // a fire that the calendar blocks
    kRecorded,  // not a fire of the current schedule, but recorded in the store
};

struct FoundFire {
    FoundKind kind = FoundKind::kNone;
    TimePoint at{};
};

// Finds the fire that the requested time refers to.
Result<FoundFire> ResolveFire(const ExplainCase& c);

// Adds verdict, reason and facts of a fire that became a run; not the text.
Result<void> ExplainRun(const ExplainCase& c, const model::Run& run, Explanation& explanation);

// Adds the same for a fire without a run: from the ledger, or because it is in the future or
// purged.
Result<void> ExplainNoRun(const ExplainCase& c, const FoundFire& fire, Explanation& explanation);

// Adds the same for a time at which the job does not fire.
Result<void> ExplainNoFire(const ExplainCase& c, Explanation& explanation);

}  // namespace ksana::insight
