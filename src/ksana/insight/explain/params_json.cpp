#include <fmt/core.h>

#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/schema/field_schema.hpp"
#include "ksana/codec/v1/job_fields.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "ksana/insight/preview/preview.hpp"
#include "ksana/insight/simulate/simulate.hpp"

namespace ksana::insight {
namespace {

using codec::JsonReader;
using codec::Node;
using codec::ObjectReader;
using codec::ObjectSchema;
using codec::Schema;

// The most changes, omitted jobs and durations.
constexpr std::size_t kMaxNamed = 10'000;
constexpr Duration kLongestRun = std::chrono::days(400);

// Returns whether the horizons of a preview lie within the supported years.
bool HasRoom(TimePoint from) {
    return from > MinTime() + std::chrono::days(366) && from < MaxTime() - std::chrono::days(3294);
}

template <class Container>
void CheckCount(JsonReader& reader, const std::string& path, const Container& items) {
    if (items.size() <= kMaxNamed) return;
    reader.Fault(path, fmt::format("has more than {} members", kMaxNamed), "out_of_range");
}

void ReadPreview(JsonReader& reader, const Node& node, PreviewParams& params) {
    ObjectReader object(reader, node);
    object.Required("schedule", params.spec);
    object.Optional("job_id", params.job_id);
    object.Optional("from", params.from);
    if (params.from && !HasRoom(*params.from)) {
        reader.Fault("/from", "lies outside the years 1 to 9990", "out_of_range");
    }
    auto count = static_cast<std::int64_t>(params.count);
    object.Optional("count", count);
    if (count < 1 || count > static_cast<std::int64_t>(kMaxPreviewFires)) {
        reader.Fault("/count", fmt::format("must be 1 to {}", kMaxPreviewFires), "out_of_range");
    } else {
        params.count = static_cast<std::size_t>(count);
    }
    object.Optional("collisions", params.collisions);
    object.Finish();
}

// A change may be a copy of an API response, as in requests that store jobs.
void ReadChange(JsonReader& reader, const Node& node, model::Job& job) {
    std::string text;
    reader.ReadRaw(node, text);
    auto read = codec::JobFromView(text);
    if (!read) {
        if (read.error().problems.empty()) reader.Fault(node.path, read.error().message);
        for (Problem& problem : read.error().problems) {
            reader.Fault(node.path + problem.path, std::move(problem.message), problem.code,
                         std::move(problem.allowed));
        }
        return;
    }
    job.definition() = *std::move(read);
    if (job.id.empty()) reader.Fault(node.path + "/id", "is missing", "missing");
}

void ReadDurations(JsonReader& reader, const Node& node,
                   std::map<std::string, Duration>& durations) {
    TextMap texts;
    reader.Read(node, texts);
    CheckCount(reader, node.path, texts);
    for (const auto& [id, text] : texts) {
        const std::string path = node.path + PointerStep(id);
        const auto duration = ParseDuration(text);
        if (!duration) {
            reader.Fault(path, duration.error().message);
        } else if (*duration < Duration::zero() || *duration > kLongestRun) {
            reader.Fault(path, "must be between 0s and 400 days", "out_of_range");
        } else {
            durations[id] = *duration;
        }
    }
}

void ReadSimulate(JsonReader& reader, const Node& node, SimulateParams& params) {
    ObjectReader object(reader, node);
    object.Required("from", params.from);
    object.Required("to", params.to);
    object.Optional("stored", params.stored);
    if (const auto changes = object.Find("changes")) {
        reader.ReadEach(*changes, params.changes,
                        [&](const Node& item, model::Job& job) { ReadChange(reader, item, job); });
        CheckCount(reader, changes->path, params.changes);
    }
    object.Optional("without", params.without);
    CheckCount(reader, "/without", params.without);
    if (const auto durations = object.Find("durations")) {
        ReadDurations(reader, *durations, params.durations);
    }
    object.Optional("default_duration", params.default_duration);
    if (params.default_duration > kLongestRun) {
        reader.Fault("/default_duration", "must be at most 400 days", "out_of_range");
    }
    object.Optional("slots", params.slots);
    object.Finish();
}

Schema MakePreviewRequest() {
    return ObjectSchema("A schedule that is not stored yet.")
        .Need("schedule", Schema::Ref(codec::kSchemaOf<schedule::ScheduleSpec>))
        .May("job_id", Schema::Text().Means("Of a job that gets this schedule: for its jitter, and "
                                            "not to be compared with itself."))
        .May("from", Schema::Time().Means("Fires after this; absent: now."))
        .May("count", Schema::Int().Between(1, kMaxPreviewFires).Default("10").Means("How many."))
        .May("collisions",
             Schema::Flag().Default("true").Means("Compare with the fires of other jobs."))
        .Example(R"({"schedule": {"kind": "cron", "cron": "30 2 * * *"}, "count": 5})");
}

Schema MakeSimulateRequest() {
    return ObjectSchema("Which jobs run on the virtual clock, and for how long.")
        .Need("from", Schema::Time().Means("When it begins.").Example("2026-03-01T00:00:00Z"))
        .Need("to", Schema::Time()
                        .Means("When it ends: at most 400 days later.")
                        .Example("2026-04-01T00:00:00Z"))
        .May("stored", Schema::Flag().Default("true").Means("With the jobs that are stored."))
        .May("changes", Schema::ListOf(Schema::Ref(codec::kJobDefinitionSchema))
                            .AtMost(kMaxNamed)
                            .Means("Whole jobs, each with its id: in the place of stored ones, or "
                                   "in addition."))
        .May("without", Schema::ListOf(Schema::Text())
                            .AtMost(kMaxNamed)
                            .Means("Ids of stored jobs that are left out."))
        .May("durations", Schema::MapOf(Schema::Length())
                              .Means("How long runs of a job take, by id; else the median of what "
                                     "was measured."))
        .May("default_duration", Schema::Length().Default("1s").Means("Where nothing is measured."))
        .May("slots", Schema::Int().AtLeast(1).Means("Runs at once, of all jobs."))
        .Example(R"({"from": "2026-03-01T00:00:00Z", "to": "2026-03-02T00:00:00Z", "slots": 10})");
}

}  // namespace

const codec::NamedSchema kPreviewRequestSchema{"PreviewRequest", &MakePreviewRequest};
const codec::NamedSchema kSimulateRequestSchema{"SimulateRequest", &MakeSimulateRequest};

Result<PreviewParams> PreviewParamsFromJson(std::string_view text) {
    return codec::ReadDocument<PreviewParams>(text, codec::JsonForm::kDefinition, {}, ReadPreview);
}

Result<SimulateParams> SimulateParamsFromJson(std::string_view text) {
    return codec::ReadDocument<SimulateParams>(text, codec::JsonForm::kDefinition, {},
                                               ReadSimulate);
}

}  // namespace ksana::insight
