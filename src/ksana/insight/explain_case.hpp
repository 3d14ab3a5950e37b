#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ksana/base/result.hpp"
#include "ksana/insight/explain.hpp"
#include "ksana/insight/explanation.hpp"
#include "ksana/model/job.hpp"
#include "ksana/schedule/schedule.hpp"
#include "ksana/schedule/zone.hpp"

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

}  // namespace ksana::insight
