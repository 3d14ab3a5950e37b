#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "ksana/schedule/cron/cron_pattern.hpp"
#include "ksana/schedule/spec.hpp"
#include "ksana/schedule/zone/civil.hpp"
#include "ksana/schedule/zone/zone.hpp"

namespace ksana::schedule {

// A cron pattern in a zone: the seconds of UTC at which it fires. The DST policies apply to
// expressions with fixed times of day; a repeating one (* in the minute or the hour) fires whenever
// the wall clock shows a match. Immutable, thread-safe; no call allocates.
class ZonedCron {
  public:
    ZonedCron(CronPattern pattern, std::shared_ptr<const Zone> zone, DstPolicy policy);

    const CronPattern& pattern() const { return pattern_; }
    const Zone& zone() const { return *zone_; }

    // Next returns the first fire in (after, until], Previous the last one in [from, before).
    std::optional<std::int64_t> Next(std::int64_t after,
                                     std::int64_t until = kMaxLocalSecond) const;
    std::optional<std::int64_t> Previous(std::int64_t before,
                                         std::int64_t from = kMinLocalSecond) const;
    std::int64_t Count(std::int64_t from, std::int64_t to) const;  // in [from, to)
    DstNote NoteFor(std::int64_t fire) const;

  private:
    struct Borders;
    Borders BordersOf(std::int64_t index) const;
    bool FiresAtGapEnd(const Borders& borders) const;

    CronPattern pattern_;
    std::shared_ptr<const Zone> zone_;
    DstPolicy policy_;
    bool utc_;
    bool fixed_time_;
};

}  // namespace ksana::schedule
