#pragma once

#include <boost/json/object.hpp>

#include "ksana/codec/json_reader.hpp"
#include "ksana/model/job.hpp"

// Inside codec/ only: what jobs.json and the /jobs dialect have in common.

namespace ksana::codec {

// A job as document K writes it: the documented members in the documented order, then what those
// cannot say, where it differs from the default. Read in JsonForm::kJobsFile.
boost::json::object TimerJobObject(const model::Job& job);
void ReadTimerJob(JsonReader& reader, const Node& node, model::Job& job);

}  // namespace ksana::codec
