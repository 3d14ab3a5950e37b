#include "ksana/codec/json/value_writer.hpp"
#include "ksana/insight/explain/explanation.hpp"

namespace ksana::codec {

using insight::Explanation;

template <>
struct FieldsOf<insight::RunFacts> {
    using Facts = insight::RunFacts;

    template <class V>
    static void Visit(V& v) {
        v("id", &Facts::id);
        v("state", &Facts::state);
        v("trigger", &Facts::trigger);
        v("created_at", &Facts::created_at);
        v("ready_at", &Facts::ready_at);
        v("started_at", &Facts::started_at);
        v("finished_at", &Facts::finished_at);
        v("attempts", &Facts::attempts);
        v.Rare("progress", &Facts::progress);
        v("late", &Facts::late);
        v("took", &Facts::took);
        v.Rare("owner", &Facts::owner);
        v.Rare("error", &Facts::error);
    }
};

template <>
struct FieldsOf<insight::LedgerFacts> {
    using Facts = insight::LedgerFacts;

    template <class V>
    static void Visit(V& v) {
        v("seq", &Facts::seq);
        v("fate", &Facts::fate);
        v("count", &Facts::count);
        v("first", &Facts::first);
        v("last", &Facts::last);
        v("recorded_at", &Facts::recorded_at);
    }
};

template <>
struct FieldsOf<insight::RelatedRun> {
    using Related = insight::RelatedRun;

    template <class V>
    static void Visit(V& v) {
        v("id", &Related::id);
        v("state", &Related::state);
        v("nominal_at", &Related::nominal_at);
        v("from", &Related::from);
        v("until", &Related::until);
    }
};

template <>
struct FieldsOf<insight::Actor> {
    template <class V>
    static void Visit(V& v) {
        v.Rare("user", &insight::Actor::user);
        v("at", &insight::Actor::at);
        v.Rare("reason", &insight::Actor::reason);
    }
};

template <>
struct FieldsOf<insight::CalendarFacts> {
    template <class V>
    static void Visit(V& v) {
        v("name", &insight::CalendarFacts::name);
        v.Rare("rule", &insight::CalendarFacts::rule);
    }
};

template <>
struct FieldsOf<insight::LimitFacts> {
    template <class V>
    static void Visit(V& v) {
        v("for", &insight::LimitFacts::key);
        v("before", &insight::LimitFacts::before);
    }
};

template <>
struct FieldsOf<Explanation> {
    template <class V>
    static void Visit(V& v) {
        v("job_id", &Explanation::job_id);
        v("asked_at", &Explanation::asked_at);
        v("now", &Explanation::now);
        v("verdict", &Explanation::verdict);
        v.Rare("reason", &Explanation::reason);
        v("text", &Explanation::text);
        v("zone", &Explanation::zone);
        v("fire", &Explanation::fire);
        v("snapped", &Explanation::snapped);
        v("start_at", &Explanation::start_at);
        v("before", &Explanation::before);
        v("after", &Explanation::after);
        v("run", &Explanation::run);
        v("ledger", &Explanation::ledger);
        v("related", &Explanation::related);
        v("actor", &Explanation::actor);
        v("calendar", &Explanation::calendar);
        v("limit", &Explanation::limit);
        v("misfire", &Explanation::misfire);
        v("expected", &Explanation::expected);
        v("planned_until", &Explanation::planned_until);
        v.Rare("notes", &Explanation::notes);
    }
};

}  // namespace ksana::codec

namespace ksana::insight {

std::string ExplanationToJson(const Explanation& explanation) {
    return codec::FieldsToJson(explanation, codec::JsonForm::kDefinition);
}

}  // namespace ksana::insight
