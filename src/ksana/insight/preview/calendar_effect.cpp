#include "ksana/insight/preview/calendar_effect.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/schema/field_schema.hpp"
#include "ksana/engine/calendars/calendar_users.hpp"
#include "ksana/schedule/calendar/calendar_index.hpp"
#include "ksana/schedule/zone/date_text.hpp"

namespace ksana::codec {
namespace {

// The most removed fires shown per job.
constexpr std::size_t kMostShown = 5;

Schema MakeDates() { return Schema::ListOf(Schema::Text().Pattern(R"(^\d{4}-\d\d-\d\d$)")); }

}  // namespace

template <>
struct FieldsOf<insight::JobEffect> {
    static constexpr SchemaDoc kSchema{.answer = true};

    using Effect = insight::JobEffect;

    template <class V>
    static void Visit(V& v) {
        v("id", &Effect::id, "Id of the job.");
        v("fires", &Effect::fires, "With the calendar.");
        v("taken_away", &Effect::taken_away, "That there are without it.");
        v("added", &Effect::added, "That there are only with it.");
        v("first_taken_away", &Effect::first_taken_away,
          Doc("The first that go.").AtMost(kMostShown));
        v("complete", &Effect::complete, "false: there are more fires than were looked at.");
        v.Rare("error", &Effect::error, "Why its schedule cannot be used.");
    }
};

template <>
struct FieldsOf<insight::CalendarEffect> {
    static constexpr SchemaDoc kSchema{
        .name = "CalendarEffect", .means = "Compared with what is stored.", .answer = true};

    using Effect = insight::CalendarEffect;

    template <class V>
    static void Visit(V& v) {
        v("from", &Effect::from, "From then on.");
        v("to", &Effect::to, "Until then.");
        v("jobs", &Effect::jobs, Doc("What changes for each job.").AtMost(1000));
        v("complete", &Effect::complete, "false: more jobs use it than were looked at.");
        v("days_off", &Effect::days_off,
          Doc("Dates on which nothing is let through.").AtMost(400).As(&MakeDates));
    }
};

}  // namespace ksana::codec

namespace ksana::insight {
namespace {

using schedule::CalendarIndex;
using schedule::kSecondsPerDay;
using schedule::Schedule;

// Returns the dates on which the calendar allows nothing, from the UTC date of `from` on. The
// calendar itself has no zone.
std::vector<std::string> DaysOff(const CalendarIndex& index, TimePoint from, std::int64_t days) {
    std::vector<std::string> off;
    const std::int64_t first =
        std::chrono::floor<std::chrono::days>(from).time_since_epoch().count();
    for (std::int64_t day = first; day < first + days; ++day) {
        const std::int64_t end = (day + 1) * kSecondsPerDay;
        std::int64_t second = day * kSecondsPerDay;
        while (second < end && !index.Allows(second)) second = index.NextEdge(second);
        if (second >= end) off.push_back(schedule::FormatDate(schedule::DateOf(day)));
    }
    return off;
}

// Compares jobs one by one and adds the results to `effect`. For one call; the arguments must
// outlive it.
class Comparison {
  public:
    Comparison(const Sources& sources, const CalendarEffectParams& params, CalendarEffect& effect)
        : sources_(sources),
          params_(params),
          effect_(effect),
          index_(std::make_shared<const CalendarIndex>(params.calendar)),
          budget_(params.max_fires) {
        effect_.days_off = DaysOff(*index_, effect_.from, params.days);
    }

    void Add(const model::Job& job) {
        JobEffect& effect = effect_.jobs.emplace_back();
        effect.id = job.id;
        schedule::ScheduleSpec spec = job.schedule;
        spec.calendar = params_.calendar.name.empty() ? "unnamed" : params_.calendar.name;
        const auto after =
            Schedule::Compile(spec, {.zones = sources_.zones,
                                     .created_at = job.state.created_at,
                                     .find_calendar = [this](std::string_view) { return index_; }});
        if (!after) {
            effect.error = Printable(Excerpt(after.error().Describe(), 400));
            return;
        }
        // A job whose calendar does not exist has no fires at present.
        const auto before = sources_.schedules.Of(job);
        Walk(before ? &*before : nullptr, *after, effect);
    }

  private:
    // Merges the fires of both schedules.
    void Walk(const Schedule* before, const Schedule& after, JobEffect& effect) {
        const TimePoint last = effect_.to - kTick;
        const auto next = [last](const Schedule* one, TimePoint at) {
            auto fire = one == nullptr ? std::nullopt : one->Next(at);
            return fire && *fire <= last ? fire : std::nullopt;
        };
        auto old = next(before, effect_.from - kTick);
        auto fresh = next(&after, effect_.from - kTick);
        for (; old || fresh; --budget_) {
            if (budget_ <= 0) {
                effect.complete = false;
                return;
            }
            const bool both = old == fresh;
            const bool gone = !both && old && (!fresh || *old < *fresh);
            if (gone) {
                ++effect.taken_away;
                if (effect.first_taken_away.size() < codec::kMostShown) {
                    effect.first_taken_away.push_back(*old);
                }
            } else {
                ++effect.fires;
                if (!both) ++effect.added;
            }
            if (both || gone) old = next(before, *old);
            if (!gone) fresh = next(&after, *fresh);
        }
    }

    const Sources& sources_;
    const CalendarEffectParams& params_;
    CalendarEffect& effect_;
    const std::shared_ptr<const CalendarIndex> index_;
    std::int64_t budget_;
};

Result<void> AddNamed(const Sources& sources, const CalendarEffectParams& params,
                      Comparison& comparison) {
    KSANA_TRY(const auto jobs, sources.store.jobs().GetMany(params.jobs));
    std::vector<Problem> problems;
    for (std::size_t i = 0; i < params.jobs.size(); ++i) {
        const auto job = std::ranges::find(jobs, params.jobs[i], &model::Job::id);
        if (job == jobs.end()) {
            problems.push_back({fmt::format("/jobs/{}", i), "there is no such job"});
        } else if (job->schedule.kind == schedule::ScheduleKind::kOnce) {
            problems.push_back({fmt::format("/jobs/{}", i), "fires once: it has no calendar"});
        } else if (job->schedule.kind == schedule::ScheduleKind::kAfter) {
            problems.push_back(
                {fmt::format("/jobs/{}", i), "fires after other jobs: it has no calendar"});
        } else if (problems.empty()) {
            comparison.Add(*job);
        }
    }
    if (!problems.empty()) return Error(std::move(problems));
    return {};
}

Result<void> AddUsers(const Sources& sources, const CalendarEffectParams& params,
                      Comparison& comparison, CalendarEffect& effect) {
    if (params.calendar.name.empty()) return {};
    std::string cursor;
    do {
        KSANA_TRY(const engine::CalendarUsers users,
                  engine::FindCalendarUsers(sources.store, {params.calendar.name}, cursor));
        for (const model::Job& job : users.jobs) {
            if (effect.jobs.size() >= params.max_jobs) {
                effect.complete = false;
                return {};
            }
            comparison.Add(job);
        }
        cursor = users.next;
    } while (!cursor.empty());
    return {};
}

}  // namespace

Result<CalendarEffect> PreviewCalendar(const Sources& sources, const CalendarEffectParams& params) {
    CalendarEffect effect;
    if (params.from) {
        effect.from = *params.from;
    } else {
        KSANA_TRY(effect.from, sources.store.Now());
    }
    const Duration length = std::chrono::days(params.days);
    if (effect.from < MinTime() + std::chrono::days(2) ||
        effect.from > MaxTime() - length - std::chrono::days(2)) {
        return Error(std::vector<Problem>{{"/from", "lies outside the years 0 to 9998"}});
    }
    effect.to = effect.from + length;
    Comparison comparison(sources, params, effect);
    if (params.jobs.empty()) {
        KSANA_TRY_VOID(AddUsers(sources, params, comparison, effect));
    } else {
        KSANA_TRY_VOID(AddNamed(sources, params, comparison));
    }
    return effect;
}

const codec::NamedSchema kCalendarEffectSchema = codec::kSchemaOf<CalendarEffect>;

std::string CalendarEffectToJson(const CalendarEffect& effect) {
    return codec::FieldsToJson(effect, codec::JsonForm::kDefinition);
}

}  // namespace ksana::insight
