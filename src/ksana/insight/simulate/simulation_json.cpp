#include "ksana/codec/json/value_writer.hpp"
#include "ksana/insight/explain/fire_note.hpp"
#include "ksana/insight/simulate/simulation.hpp"

namespace ksana::codec {

template <>
struct FieldsOf<insight::SimCounts> {
    using Counts = insight::SimCounts;

    template <class V>
    static void Visit(V& v) {
        v("fires", &Counts::fires);
        v("runs", &Counts::runs);
        v("skipped", &Counts::skipped);
        v("queued", &Counts::queued);
        v("cancelled", &Counts::cancelled);
        v("excluded", &Counts::excluded);
        v("dst", &Counts::dst);
        v("unfinished", &Counts::unfinished);
    }
};

template <>
struct FieldsOf<insight::SimJobOutcome> {
    using Outcome = insight::SimJobOutcome;

    template <class V>
    static void Visit(V& v) {
        v("id", &Outcome::id);
        v("overlap", &Outcome::overlap);
        v("duration", &Outcome::duration);
        v("measured", &Outcome::measured);
        v.Rare("paused", &Outcome::paused);
        v.Flat(&Outcome::counts);
        v("longest_wait", &Outcome::longest_wait);
        v.Rare("error", &Outcome::error);
    }
};

template <>
struct FieldsOf<insight::SimExample> {
    using Example = insight::SimExample;

    template <class V>
    static void Visit(V& v) {
        v("kind", &Example::kind);
        v("job_id", &Example::job_id);
        v("at", &Example::at);
        v.Rare("dst", &Example::dst);
    }
};

template <>
struct FieldsOf<insight::SimLoad> {
    using Load = insight::SimLoad;

    template <class V>
    static void Visit(V& v) {
        v("max_starts", &Load::max_starts);
        v("max_starts_at", &Load::max_starts_at);
        v("max_running", &Load::max_running);
        v("max_running_at", &Load::max_running_at);
        v("starts", &Load::starts);
        v("running", &Load::running);
    }
};

template <>
struct FieldsOf<insight::SimWaits> {
    using Waits = insight::SimWaits;

    template <class V>
    static void Visit(V& v) {
        v("slots", &Waits::slots);
        v("runs", &Waits::runs);
        v("longest", &Waits::longest);
        v("longest_at", &Waits::longest_at);
        v("average", &Waits::average);
        v("max_waiting", &Waits::max_waiting);
    }
};

template <>
struct FieldsOf<insight::Simulation> {
    using Simulation = insight::Simulation;

    template <class V>
    static void Visit(V& v) {
        v("from", &Simulation::from);
        v("to", &Simulation::to);
        v("complete", &Simulation::complete);
        v("jobs", &Simulation::jobs);
        v("paused", &Simulation::paused);
        v("broken", &Simulation::broken);
        v("totals", &Simulation::totals);
        v("waits", &Simulation::waits);
        v("load", &Simulation::load);
        v("examples", &Simulation::examples);
        v("outcomes", &Simulation::outcomes);
    }
};

}  // namespace ksana::codec

namespace ksana::insight {

std::string SimulationToJson(const Simulation& simulation) {
    return codec::FieldsToJson(simulation, codec::JsonForm::kDefinition);
}

}  // namespace ksana::insight
