#pragma once

#include "ksana/codec/json_output.hpp"
#include "ksana/codec/json_reader.hpp"
#include "ksana/model/job.hpp"

namespace ksana::codec {

// The definition of a job: what a user writes. What the engine keeps about it is not part of this.
void ReadJob(JsonReader& reader, const Node& node, model::Job& job);
void WriteJob(JsonOutput& output, const model::Job& job);

void ReadSchedule(JsonReader& reader, const Node& node, schedule::ScheduleSpec& spec);

}  // namespace ksana::codec
