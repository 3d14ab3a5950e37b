#include "ksana/codec/records/backfill_codec.hpp"

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/schema/field_schema.hpp"

namespace ksana::codec {

using model::Backfill;

template <>
struct FieldsOf<Backfill> {
    template <class V>
    static void Visit(V& v) {
        VisitShown(v);
        v("next", &Backfill::next);
        v.Json("parameters", &Backfill::parameters);
        v("due_at", &Backfill::due_at);
        v("swept", &Backfill::swept);
        v("tenant", &Backfill::tenant);
    }

    template <class V>
    static void VisitShown(V& v) {
        v.Key("id", &Backfill::id, "Parent of its runs.");
        v.Key("job_id", &Backfill::job_id, "The job whose fires these are.");
        v.Key("from", &Backfill::from, "Fires at or after this.");
        v.Key("to", &Backfill::to, "And before this.");
        v.Key("state", &Backfill::state, "How far it is.");
        v.Key("overlap", &Backfill::overlap,
              "queue: one after the other, behind runs of the schedule; allow: as fast as "
              "per_minute says.");
        v("count", &Backfill::count, Doc("Fires.").AtLeast(0));
        v("submitted", &Backfill::submitted, Doc("Became runs.").AtLeast(0));
        v("succeeded", &Backfill::succeeded, Doc("Runs that succeeded.").AtLeast(0));
        v("failed", &Backfill::failed, Doc("Runs that ended otherwise.").AtLeast(0));
        v("skipped", &Backfill::skipped, Doc("Fires that had a run already.").AtLeast(0));
        v("per_minute", &Backfill::per_minute, Doc("Runs that are made in a minute.").AtLeast(0));
        v("created_at", &Backfill::created_at, "When it began.");
        v("created_by", &Backfill::created_by, "Who wanted it.");
        v.Rare("ended_at", &Backfill::ended_at, "When it ended.");
        v.Rare("error", &Backfill::error, "Why it was given up.");
    }
};

template <>
struct FieldsOf<BackfillRequest> {
    static constexpr SchemaDoc kSchema{
        .name = "BackfillRequest",
        .means = "Which fires of the past are to have runs.",
        .example =
            R"({"from": "2025-03-01T00:00:00Z", "to": "2025-03-02T00:00:00Z",
"dry_run": false, "per_minute": 10})"};

    template <class V>
    static void Visit(V& v) {
        v.Required("from", &BackfillRequest::from, "Fires at or after this.");
        v.Required("to", &BackfillRequest::to, "And before this, which must not be in the future.");
        v("dry_run", &BackfillRequest::dry_run, "false: do it.");
        v("max", &BackfillRequest::max,
          Doc("More fires than this are refused.").Between(1, 50'000).Default("10000"));
        v("per_minute", &BackfillRequest::per_minute,
          Doc("Runs that are made in a minute.").Between(1, 6000).Default("60"));
        v("overlap", &BackfillRequest::overlap,
          "queue: one after the other, behind runs of the schedule; allow: as fast as per_minute "
          "says.");
        v.Json("parameters", &BackfillRequest::parameters,
               Doc("In the place of the job's payload.").As(&Schema::AnyObject));
    }
};

namespace {

Schema MakeBackfill() {
    ObjectSchema backfill("Runs for fires of the past, and how far they are.");
    backfill.AllOf(
        DescribeMembers<Backfill>(true, [](auto& v) { FieldsOf<Backfill>::VisitShown(v); }));
    return backfill;
}

struct FireSteps {
    std::vector<std::int64_t> steps;
};

}  // namespace

template <>
struct FieldsOf<FireSteps> {
    template <class V>
    static void Visit(V& v) {
        v("steps", &FireSteps::steps);
    }
};

const NamedSchema kBackfillSchema{"Backfill", &MakeBackfill};
const NamedSchema kBackfillRequestSchema = kSchemaOf<BackfillRequest>;

std::string BackfillToJson(const Backfill& backfill) {
    return FieldsToJson(backfill, JsonForm::kRecord);
}

Result<Backfill> BackfillFromJson(std::string_view text) {
    return ReadDocument<Backfill>(
        text, JsonForm::kRecord, {},
        [](JsonReader& reader, const Node& node, Backfill& out) { reader.Read(node, out); });
}

std::string BackfillViewToJson(const Backfill& backfill) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    FieldWriter<Backfill> fields(writer, backfill, true);
    output.BeginObject();
    FieldsOf<Backfill>::VisitShown(fields);
    output.EndObject();
    return output.Take();
}

std::string FiresToJson(const std::vector<TimePoint>& fires) {
    FireSteps out;
    TimePoint last{};
    for (const TimePoint fire : fires) {
        out.steps.push_back((fire - last).count());
        last = fire;
    }
    return FieldsToJson(out, JsonForm::kRecord);
}

Result<std::vector<TimePoint>> FiresFromJson(std::string_view text) {
    KSANA_TRY(const FireSteps in,
              ReadDocument<FireSteps>(text, JsonForm::kRecord, LimitsOfStoredJson(text),
                                      [](JsonReader& reader, const Node& node, FireSteps& out) {
                                          reader.Read(node, out);
                                      }));
    std::vector<TimePoint> fires;
    fires.reserve(in.steps.size());
    TimePoint last{};
    for (const std::int64_t step : in.steps) fires.push_back(last += Duration(step));
    return fires;
}

Result<BackfillRequest> BackfillRequestFromJson(std::string_view text) {
    return ReadDocument<BackfillRequest>(
        text, JsonForm::kDefinition, {},
        [](JsonReader& reader, const Node& node, BackfillRequest& out) {
            reader.Read(node, out);
            if (reader.Clean() && out.from >= out.to) reader.Fault("/to", "must be after from");
            if (!out.parameters.empty() && !out.parameters.starts_with('{')) {
                reader.Fault("/parameters", "must be an object", "wrong_type");
            }
            if (out.parameters == "{}") out.parameters.clear();
        });
}

}  // namespace ksana::codec
