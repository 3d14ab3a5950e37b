#include "ksana/codec/job_codec.hpp"

#include "ksana/codec/job_fields.hpp"
#include "ksana/codec/value_writer.hpp"

namespace ksana::codec {

void ReadJob(JsonReader& reader, const Node& node, model::Job& job) { reader.Read(node, job); }

boost::json::value JobValue(const model::Job& job) {
    return ValueWriter(JsonForm::kDefinition).Make(job);
}

void ReadSchedule(JsonReader& reader, const Node& node, schedule::ScheduleSpec& spec) {
    reader.Read(node, spec);
}

boost::json::value ScheduleValue(const schedule::ScheduleSpec& spec) {
    return ValueWriter(JsonForm::kDefinition).Make(spec);
}

}  // namespace ksana::codec
