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

// A question and what is known before the fire is looked for. Inside the module.
struct ExplainCase {
    const Sources& sources;
    const ExplainParams& params;
    TimePoint now{};
    std::optional<model::Job> job;               // none: unknown (deleted, perhaps)
    std::optional<schedule::Schedule> schedule;  // none: no job, or it cannot be compiled
    std::string schedule_error;
    std::shared_ptr<const schedule::Zone> zone;  // never null

    Fire FireAt(TimePoint at) const;
    // Whether the schedule, as it is now, fires then, or would if the calendar let it.
    bool Fires(TimePoint at) const;
    bool IsBlocked(TimePoint at) const;
    // The job was changed by somebody after this time: it may have been another schedule then.
    bool ChangedSince(TimePoint at) const;
    // Every fire up to here has been accounted for.
    TimePoint PlannedUntil() const;
};

Result<ExplainCase> OpenCase(const Sources& sources, const ExplainParams& params);

// The fires before and after a time, as far as the job was there.
void AddNearest(const ExplainCase& c, TimePoint around, Explanation& explanation);

// The calendar and, as far as can be told, the rule that takes this fire away.
CalendarFacts CalendarFactsOf(const ExplainCase& c, TimePoint at);

enum class FoundKind : std::uint8_t {
    kNone,      // no fire is near
    kAllowed,   // a fire of the schedule as it is now
    kBlocked,   // one that the calendar takes away
    kRecorded,  // none of the schedule as it is now, but it is on record
};

struct FoundFire {
    FoundKind kind = FoundKind::kNone;
    TimePoint at{};
};

// Which fire is meant by the time that was asked for.
Result<FoundFire> FindMeantFire(const ExplainCase& c);

// Verdict, reason and facts of a fire that made a run. All but the text.
Result<void> ExplainRun(const ExplainCase& c, const model::Run& run, Explanation& explanation);

// Why a fire made no run: the ledger, what is to come, or what is gone. All but the text.
Result<void> ExplainNoRun(const ExplainCase& c, const FoundFire& fire, Explanation& explanation);

// Why a time is no fire. All but the text.
Result<void> ExplainNoFire(const ExplainCase& c, Explanation& explanation);

}  // namespace ksana::insight
