#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/schema/field_schema.hpp"
#include "ksana/insight/explain/explanation.hpp"

namespace ksana::codec {

using insight::Explanation;

template <>
struct FieldsOf<insight::RunFacts> {
    static constexpr SchemaDoc kSchema{.means = "The run that a fire made.", .answer = true};

    using Facts = insight::RunFacts;

    template <class V>
    static void Visit(V& v) {
        v("id", &Facts::id, "Id of the run.");
        v("state", &Facts::state, "Where it stands.");
        v("trigger", &Facts::trigger, "What made it.");
        v("created_at", &Facts::created_at, "When it was made.");
        v("ready_at", &Facts::ready_at, "While it waits: not started before.");
        v("started_at", &Facts::started_at, "Of the first attempt.");
        v("finished_at", &Facts::finished_at, "Of the run.");
        v("attempts", &Facts::attempts, "Attempts so far.");
        v.Rare("progress", &Facts::progress, "Percent that are done.");
        v("late", &Facts::late, "How long after its time, with jitter, it started.");
        v("took", &Facts::took, "From the first start to the end.");
        v.Rare("owner", &Facts::owner, "Of the current or last attempt.");
        v.Rare("error", &Facts::error, "The last one.");
    }
};

template <>
struct FieldsOf<insight::LedgerFacts> {
    static constexpr SchemaDoc kSchema{.means = "An entry of the ledger.", .answer = true};

    using Facts = insight::LedgerFacts;

    template <class V>
    static void Visit(V& v) {
        v("seq", &Facts::seq, "Number of the entry.");
        v("fate", &Facts::fate, "What became of the fires.");
        v("count", &Facts::count, "How many fires.");
        v("first", &Facts::first, "The first of them.");
        v("last", &Facts::last, "The last of them.");
        v("recorded_at", &Facts::recorded_at, "When the entry was written.");
    }
};

template <>
struct FieldsOf<insight::RelatedRun> {
    static constexpr SchemaDoc kSchema{.means = "Another run of the job.", .answer = true};

    using Related = insight::RelatedRun;

    template <class V>
    static void Visit(V& v) {
        v("id", &Related::id, "Id of the run.");
        v("state", &Related::state, "Where it stands.");
        v("nominal_at", &Related::nominal_at, "Of a fire: its time by the schedule.");
        v("from", &Related::from, "When it started, or was made if it has not.");
        v("until", &Related::until, "Absent: it is not over.");
    }
};

template <>
struct FieldsOf<insight::Actor> {
    static constexpr SchemaDoc kSchema{.means = "Who did something.", .answer = true};

    template <class V>
    static void Visit(V& v) {
        v.Rare("user", &insight::Actor::user, "Who it was.");
        v("at", &insight::Actor::at, "When.");
        v.Rare("reason", &insight::Actor::reason, "As it was said.");
    }
};

template <>
struct FieldsOf<insight::CalendarFacts> {
    static constexpr SchemaDoc kSchema{.means = "A calendar, and the rule of it that matches.",
                                       .answer = true};

    template <class V>
    static void Visit(V& v) {
        v("name", &insight::CalendarFacts::name, "Name of the calendar.");
        v.Rare("rule", &insight::CalendarFacts::rule, "In words.");
    }
};

template <>
struct FieldsOf<insight::LimitFacts> {
    static constexpr SchemaDoc kSchema{.means = "A limit that is used up.", .answer = true};

    template <class V>
    static void Visit(V& v) {
        v("for", &insight::LimitFacts::key,
          Doc("Kind and name of the limit.").Example("group:etl"));
        v("before", &insight::LimitFacts::before,
          "Runs that were in front of it when it was last looked at.");
    }
};

template <>
struct FieldsOf<insight::DependencyFacts> {
    static constexpr SchemaDoc kSchema{.means = "A job that the fire depends on.", .answer = true};

    template <class V>
    static void Visit(V& v) {
        v.Rare("job", &insight::DependencyFacts::job_id, "Id of the other job.");
        v("since", &insight::DependencyFacts::since, "Since when it waits.");
        v("until", &insight::DependencyFacts::until, "It is skipped then.");
    }
};

template <>
struct FieldsOf<Explanation> {
    static constexpr SchemaDoc kSchema{
        .name = "Explanation",
        .means = "What became of a fire. docs/explain.md says what each verdict and reason means.",
        .answer = true};

    template <class V>
    static void Visit(V& v) {
        v("job_id", &Explanation::job_id, "The job that was asked about.");
        v("asked_at", &Explanation::asked_at, "The time that was asked about.");
        v("now", &Explanation::now, "When it was asked.");
        v("verdict", &Explanation::verdict, "What became of it.");
        v.Rare("reason", &Explanation::reason, "Where the verdict has more than one.");
        v("text", &Explanation::text, "One sentence for people.");
        v("zone", &Explanation::zone, "Time zone of the schedule.");
        v("fire", &Explanation::fire, "The fire that is meant; absent: none is near.");
        v("snapped", &Explanation::snapped,
          "The fire is not exactly at the time that was asked for.");
        v("start_at", &Explanation::start_at, "Its time with jitter, where that differs.");
        v("before", &Explanation::before, "The fire before it.");
        v("after", &Explanation::after, "The fire after it.");
        v("run", &Explanation::run, "The run that it made.");
        v("ledger", &Explanation::ledger, "The entry of the ledger that it is part of.");
        v("related", &Explanation::related, "Another run that has to do with it.");
        v("actor", &Explanation::actor, "Who did it.");
        v("calendar", &Explanation::calendar, "What excludes it.");
        v("limit", &Explanation::limit, "What is in its way.");
        v("dependency", &Explanation::dependency, "The job that it waits or waited for.");
        v("misfire", &Explanation::misfire, "The job's policy for fires that were missed.");
        v("expected", &Explanation::expected, "What planning will make of it.");
        v("planned_until", &Explanation::planned_until,
          "Every fire of the job up to here is accounted for.");
        v.Rare("notes", &Explanation::notes, "What else is worth knowing.");
    }
};

}  // namespace ksana::codec

namespace ksana::insight {

const codec::NamedSchema kExplanationSchema = codec::kSchemaOf<Explanation>;

std::string ExplanationToJson(const Explanation& explanation) {
    return codec::FieldsToJson(explanation, codec::JsonForm::kDefinition);
}

}  // namespace ksana::insight
