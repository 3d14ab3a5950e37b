#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/insight/explain/fire_note.hpp"
#include "ksana/insight/sources.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/schedule/schedule.hpp"

namespace ksana::insight {

inline constexpr std::size_t kMaxPreviewFires = 100;
// The most jobs whose fires are compared with those of the preview; each costs microseconds.
inline constexpr std::size_t kMaxComparedJobs = 10'000;

struct PreviewParams {
    schedule::ScheduleSpec spec;
    std::string job_id;             // the stored job that would get this schedule; may be empty
    std::optional<TimePoint> from;  // exclusive; none: the store's clock
    std::size_t count = 10;         // at most kMaxPreviewFires
    bool collisions = true;
    std::size_t max_jobs = kMaxComparedJobs;
};

struct PreviewFire {
    Fire fire;
    std::optional<TimePoint> start_until;  // latest possible start with jitter
    std::optional<TimePoint> start_at;     // start with jitter, if the job is known
    std::int64_t same_minute = 0;          // other enabled jobs that fire in the same minute
    std::int64_t same_second = 0;          // those of them that fire in the same second
    friend bool operator==(const PreviewFire&, const PreviewFire&) = default;
};

// A fire that the calendar removes.
struct ExcludedFire {
    Fire fire;
    std::string rule;  // in words; empty: unknown
    friend bool operator==(const ExcludedFire&, const ExcludedFire&) = default;
};

enum class WarningKind : std::uint8_t {
    kNeverFires,     // valid, but no day of any year matches
    kOnlyInThePast,  // has fired before, but will not again
    kFrequent,       // once a second or more often
    kShortMonths,    // skips months without a 29th, 30th or 31st
    kDstGap,         // the clocks skip one of its times
    kDstFold,        // one of its times occurs twice
    kAllExcluded,    // the calendar removes every fire
    kAfterOthers,    // has no times of its own: it fires when the runs of other jobs end
};

struct PreviewWarning {
    WarningKind kind = WarningKind::kNeverFires;
    std::string text;
    friend bool operator==(const PreviewWarning&, const PreviewWarning&) = default;
};

struct Preview {
    std::string words;
    std::string zone;
    TimePoint from{};
    std::vector<PreviewFire> fires;
    // Fires removed by the calendar, up to the last one in `fires` (or 400 days if that is empty).
    std::int64_t excluded = 0;
    std::vector<ExcludedFire> excluded_fires;  // the first of them
    Duration jitter{};
    std::vector<PreviewWarning> warnings;
    std::int64_t compared_jobs = 0;
    bool compared_all = true;  // false: there are more jobs than max_jobs
};

// Previews the coming fires of a schedule that need not be stored. Returns kInvalidArgument with
// every problem of the spec. Read-only, thread-safe.
Result<Preview> PreviewSchedule(const Sources& sources, const PreviewParams& params);

std::string PreviewToJson(const Preview& preview);
extern const codec::NamedSchema kPreviewSchema;

// Parses {"schedule": {…}, "job_id": …, "from": …, "count": …, "collisions": …}. The error lists
// every problem.
Result<PreviewParams> PreviewParamsFromJson(std::string_view text);
extern const codec::NamedSchema kPreviewRequestSchema;

}  // namespace ksana::insight

template <>
struct ksana::model::EnumNames<ksana::insight::WarningKind> {
    static constexpr std::array<std::string_view, 8> kNames = {
        "never_fires", "only_in_the_past", "frequent",     "short_months",
        "dst_gap",     "dst_fold",         "all_excluded", "after_others"};
};
