#pragma once

#include "ksana/base/text/json_output.hpp"
#include "ksana/codec/json/json_reader.hpp"
#include "ksana/model/job/effective_policy.hpp"
#include "ksana/model/job/job.hpp"

// Used inside codec/ only: what jobs.json and the /jobs dialect share.

namespace ksana::codec {

// Write and read a job as document K describes it: the documented members in the documented order,
// then what those cannot express, if it differs from the default. With `defaults`, the effective
// timeout and retries are written where the job sets none. Read in JsonForm::kJobsFile.
void WriteTimerJob(JsonOutput& output, const model::Job& job,
                   const model::PolicyDefaults* defaults = nullptr);
void ReadTimerJob(JsonReader& reader, const Node& node, model::Job& job);

}  // namespace ksana::codec
