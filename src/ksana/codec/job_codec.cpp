#include "ksana/codec/job_codec.hpp"

#include "ksana/codec/job_fields.hpp"
#include "ksana/codec/value_writer.hpp"

namespace ksana::codec {

void ReadJob(JsonReader& reader, const Node& node, model::Job& job) { reader.Read(node, job); }

void WriteJob(JsonOutput& output, const model::Job& job) {
    ValueWriter(JsonForm::kDefinition, output).Write(job);
}

void ReadSchedule(JsonReader& reader, const Node& node, schedule::ScheduleSpec& spec) {
    reader.Read(node, spec);
}

}  // namespace ksana::codec
