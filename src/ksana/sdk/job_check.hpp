#pragma once

#include <memory>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/schedule/zone/zone_database.hpp"
#include "ksana/sdk/run/job_entry.hpp"

namespace ksana::sdk {

JobSpec SpecOf(const JobDeclaration& declared);

// Checks at run time what KSANA_JOB checks when compiling, the schedule aside. The error lists
// every fault.
Result<void> CheckJob(const JobSpec& spec);

// Compiles the schedule. The error lists every fault; paths start at the job ("/cron").
Result<std::shared_ptr<const JobPolicy>> CompileJob(JobSpec spec, schedule::ZoneDatabase& zones);

// Returns a text that is equal for specs that differ in id, `enabled`, rate and delay only.
std::string PolicyKey(const JobSpec& spec);

// Makes the object of a declared job. The error lists every constructor argument that the context
// lacks, or says what the constructor threw.
Result<detail::JobObject> MakeObject(const detail::Registration& job, Context& context);

}  // namespace ksana::sdk
