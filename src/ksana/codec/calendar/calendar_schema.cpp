#include "ksana/codec/calendar/calendar_view.hpp"

// Schemas of calendars, which calendar_codec.cpp and calendar_view.cpp read and write.

namespace ksana::codec {
namespace {

constexpr std::int64_t kMaxRules = 4096;

Schema Weekday() { return Schema::OneOf({"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}); }

Schema MakeRule() {
    return ObjectSchema(
               "The days it speaks of and the part of such a day; all that is given must match.")
        .May("dates", Schema::Text()
                          .Means("A date, or first/last.")
                          .Examples({"2026-10-01", "2026-10-01/2026-10-07"}))
        .May("yearly", Schema::Text().Means("A day of every year.").Example("12-25"))
        .May("weekdays", Schema::ListOf(Weekday()).AtMost(7).Means("Days of the week."))
        .May("from", Schema::Text()
                         .Means("With to: a part of the day, past midnight where to is not later.")
                         .Example("22:00"))
        .May("to", Schema::Text().Means("End of the part of the day.").Example("06:00"));
}

constexpr NamedSchema kRule{"CalendarRule", &MakeRule};

Schema Rules() { return Schema::ListOf(Schema::Ref(kRule)).AtMost(kMaxRules); }

ObjectSchema CalendarObject(std::string_view means, bool answer) {
    const Schema swap = ObjectSchema()
                            .Need("date", Schema::Text().Means("The day.").Example("2026-10-10"))
                            .Need("counts_as", Weekday().Means("The weekday that it counts as."));
    const Schema version = Schema::Int().Means("Grows with every change.");
    ObjectSchema calendar(means);
    return calendar
        .Add("name", Schema::Text().Means("As in the path; a body may leave it out."), answer)
        .Add("description", Schema::Text().Means("What it is for."), answer)
        .Add("exclude", Rules().Means("Nothing fires where one of these matches …"), answer)
        .Add("include", Rules().Means("… unless one of these does."), answer)
        .Add("swaps",
             Schema::ListOf(swap).AtMost(kMaxRules).Means("Days that count as another weekday."),
             answer)
        .Add("version", answer ? version.AtLeast(0) : version, answer)
        .Add("updated_at", Schema::Time().Means("When it was changed."), answer);
}

Schema MakeDefinition() {
    return CalendarObject(
               "Rules in the zone of each schedule that uses them. It may be a copy of an "
               "answer: version and updated_at are not looked at.",
               false)
        .Example(R"({"exclude": [{"dates": "2026-10-01/2026-10-07"}, {"weekdays": ["SAT", "SUN"]}],
"swaps": [{"date": "2026-10-10", "counts_as": "WED"}]})");
}

Schema MakeCalendar() { return CalendarObject("When schedules that name it do not fire.", true); }

Schema MakeImport() {
    return ObjectSchema("Days of another program.")
        .Need("format", Schema::Name<ImportFormat>().Means("iCalendar, or lines of date[,end]"
                                                           "[,name]."))
        .Need("text",
              Schema::Text()
                  .Means("At most 1 MiB.")
                  .Examples({"date,end,name\n2026-10-01,2026-10-07,Golden Week\n", "2026-12-25"}))
        .May("list", Schema::Name<ImportList>().Default("exclude").Means("Where the rules go."))
        .May("mode", Schema::Name<ImportMode>().Default("merge").Means(
                         "Whether the rules come in addition, or in the place of the list."))
        .May("dry_run", Schema::Flag().Default("false").Means("Says what it would be."))
        .Example(R"({"format": "csv", "text": "2026-12-25\n"})");
}

Schema MakeQuestion() {
    return ObjectSchema("What would a calendar do?")
        .Need("calendar", Schema::Ref(kCalendarDefinitionSchema))
        .May("from", Schema::Time().Means("From then on; absent: from now on."))
        .May("days",
             Schema::Int().Between(1, kMaxQuestionDays).Default("365").Means("For so long."))
        .May("jobs", Schema::ListOf(Schema::Text())
                         .AtMost(kMaxQuestionJobs)
                         .Means("Absent: those that use the calendar of this name."))
        .Example(R"({"calendar": {"exclude": [{"yearly": "12-25"}]},
"from": "2026-12-01T00:00:00Z", "days": 31})");
}

}  // namespace

const NamedSchema kCalendarDefinitionSchema{"CalendarDefinition", &MakeDefinition};
const NamedSchema kCalendarSchema{"Calendar", &MakeCalendar};
const NamedSchema kCalendarImportSchema{"CalendarImport", &MakeImport};
const NamedSchema kCalendarQuestionSchema{"CalendarQuestion", &MakeQuestion};

}  // namespace ksana::codec
