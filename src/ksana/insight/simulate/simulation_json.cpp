#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/schema/field_schema.hpp"
#include "ksana/insight/explain/fire_note.hpp"
#include "ksana/insight/simulate/simulation.hpp"

namespace ksana::codec {

template <>
struct FieldsOf<insight::SimCounts> {
    static constexpr SchemaDoc kSchema{
        .name = "SimCounts", .means = "What became of fires.", .answer = true};

    using Counts = insight::SimCounts;

    template <class V>
    static void Visit(V& v) {
        v("fires", &Counts::fires, "Fires.");
        v("runs", &Counts::runs, "Runs that started.");
        v("skipped", &Counts::skipped, "Fires while an earlier run was not over.");
        v("queued", &Counts::queued, "Fires that waited for an earlier run.");
        v("cancelled", &Counts::cancelled, "Runs whose place a later fire took.");
        v("excluded", &Counts::excluded, "Fires that the calendar takes away.");
        v("dst", &Counts::dst, "Fires that clocks moved, or that fall on one of two passes.");
        v("unfinished", &Counts::unfinished, "At the end: running, or still waiting.");
    }
};

template <>
struct FieldsOf<insight::SimJobOutcome> {
    static constexpr SchemaDoc kSchema{.answer = true};

    using Outcome = insight::SimJobOutcome;

    template <class V>
    static void Visit(V& v) {
        v("id", &Outcome::id, "Id of the job.");
        v("overlap", &Outcome::overlap, "Its policy.");
        v("duration", &Outcome::duration, "Of each run.");
        v("measured", &Outcome::measured, "That is the median of its runs, not an assumption.");
        v.Rare("paused", &Outcome::paused, "It does not fire.");
        v.Flat(&Outcome::counts);
        v("longest_wait", &Outcome::longest_wait, "For a slot.");
        v.Rare("error", &Outcome::error, "Why its schedule cannot be used.");
    }
};

template <>
struct FieldsOf<insight::SimExample> {
    static constexpr SchemaDoc kSchema{.answer = true};

    using Example = insight::SimExample;

    template <class V>
    static void Visit(V& v) {
        v("kind", &Example::kind, "What happens then.");
        v("job_id", &Example::job_id, "Id of the job.");
        v("at", &Example::at, "When.");
        v.Rare("dst", &Example::dst, "What a change of the clocks has to do with it.");
    }
};

template <>
struct FieldsOf<insight::SimLoad> {
    static constexpr SchemaDoc kSchema{.means = "A number for each minute from `from` on.",
                                       .answer = true};

    using Load = insight::SimLoad;

    template <class V>
    static void Visit(V& v) {
        v("max_starts", &Load::max_starts, "Most starts in a minute.");
        v("max_starts_at", &Load::max_starts_at, "In which.");
        v("max_running", &Load::max_running, "Most that run at once.");
        v("max_running_at", &Load::max_running_at, "When.");
        v("starts", &Load::starts, "Starts in each minute.");
        v("running", &Load::running, "Most at once in each minute.");
    }
};

template <>
struct FieldsOf<insight::SimWaits> {
    static constexpr SchemaDoc kSchema{.means = "Of runs that found no slot.", .answer = true};

    using Waits = insight::SimWaits;

    template <class V>
    static void Visit(V& v) {
        v("slots", &Waits::slots, "Runs at once, as asked.");
        v("runs", &Waits::runs, "That had to wait.");
        v("longest", &Waits::longest, "The longest wait.");
        v("longest_at", &Waits::longest_at, "When it began.");
        v("average", &Waits::average, "Of those that had to wait.");
        v("max_waiting", &Waits::max_waiting, "At once.");
    }
};

template <>
struct FieldsOf<insight::Simulation> {
    static constexpr SchemaDoc kSchema{
        .name = "Simulation", .means = "What it would be like.", .answer = true};

    using Simulation = insight::Simulation;

    template <class V>
    static void Visit(V& v) {
        v("from", &Simulation::from, "As asked.");
        v("to", &Simulation::to, "As asked.");
        v("complete", &Simulation::complete,
          "false: there are more jobs than were looked at, or too much waited.");
        v("jobs", &Simulation::jobs, "Jobs that were simulated.");
        v("paused", &Simulation::paused, "Of them: paused.");
        v("broken", &Simulation::broken, "Of them: with a schedule that cannot be used.");
        v("totals", &Simulation::totals, "Of all jobs.");
        v("waits", &Simulation::waits, "Where slots were limited.");
        v("load", &Simulation::load, "How busy it gets, minute by minute.");
        v("examples", &Simulation::examples, "A few of each kind.");
        v("outcomes", &Simulation::outcomes, "Each job, by id.");
    }
};

}  // namespace ksana::codec

namespace ksana::insight {

const codec::NamedSchema kSimulationSchema = codec::kSchemaOf<Simulation>;

std::string SimulationToJson(const Simulation& simulation) {
    return codec::FieldsToJson(simulation, codec::JsonForm::kDefinition);
}

}  // namespace ksana::insight
