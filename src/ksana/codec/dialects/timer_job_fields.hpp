#pragma once

#include "ksana/base/text/json_output.hpp"
#include "ksana/codec/json/json_reader.hpp"
#include "ksana/model/job/effective_policy.hpp"
#include "ksana/model/job/job.hpp"

// Inside codec/ only: what jobs.json and the /jobs dialect have in common.

namespace ksana::codec {

// A job as document K writes it: the documented members in the documented order, then what those
// cannot say, where it differs from the default. With `defaults` the timeout and the retries that
// hold stand where the job itself has none. Read in JsonForm::kJobsFile.
void WriteTimerJob(JsonOutput& output, const model::Job& job,
                   const model::PolicyDefaults* defaults = nullptr);
void ReadTimerJob(JsonReader& reader, const Node& node, model::Job& job);

}  // namespace ksana::codec
