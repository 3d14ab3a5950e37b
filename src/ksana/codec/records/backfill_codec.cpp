#include "ksana/codec/records/backfill_codec.hpp"

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/value_writer.hpp"

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
        v.Key("id", &Backfill::id);
        v.Key("job_id", &Backfill::job_id);
        v.Key("from", &Backfill::from);
        v.Key("to", &Backfill::to);
        v.Key("state", &Backfill::state);
        v.Key("overlap", &Backfill::overlap);
        v("count", &Backfill::count);
        v("submitted", &Backfill::submitted);
        v("succeeded", &Backfill::succeeded);
        v("failed", &Backfill::failed);
        v("skipped", &Backfill::skipped);
        v("per_minute", &Backfill::per_minute);
        v("created_at", &Backfill::created_at);
        v("created_by", &Backfill::created_by);
        v.Rare("ended_at", &Backfill::ended_at);
        v.Rare("error", &Backfill::error);
    }
};

template <>
struct FieldsOf<BackfillRequest> {
    template <class V>
    static void Visit(V& v) {
        v.Required("from", &BackfillRequest::from);
        v.Required("to", &BackfillRequest::to);
        v("dry_run", &BackfillRequest::dry_run);
        v("max", &BackfillRequest::max);
        v("per_minute", &BackfillRequest::per_minute);
        v("overlap", &BackfillRequest::overlap);
        v.Json("parameters", &BackfillRequest::parameters);
    }
};

namespace {

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
              ReadDocument<FireSteps>(text, JsonForm::kRecord, LimitsOfOurs(text),
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
