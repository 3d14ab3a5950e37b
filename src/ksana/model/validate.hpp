#pragma once

#include <vector>

#include "ksana/base/error/error.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/job/limit.hpp"
#include "ksana/model/run/new_task.hpp"
#include "ksana/model/run/run_type.hpp"
#include "ksana/model/worker.hpp"

namespace ksana::schedule {
struct ScheduleContext;
}

namespace ksana::model {

// The Validate functions return every problem they find, each with its JSON Pointer (K-20). An
// empty result means that the value may be stored. `context` is used to compile the job's schedule.
std::vector<Problem> ValidateJob(const JobDefinition& job,
                                 const schedule::ScheduleContext& context);

std::vector<Problem> ValidateRunType(const RunType& type);

// Checks what a worker says about itself when it registers.
std::vector<Problem> ValidateWorker(const Worker& worker);

std::vector<Problem> ValidateLimit(const Limit& limit);

std::vector<Problem> ValidateNewTask(const NewTask& task);

// Limits on what users may send.
inline constexpr std::size_t kMaxNameLength = 200;
inline constexpr std::size_t kMaxDescriptionLength = 4'000;
inline constexpr std::size_t kMaxLabels = 64;
inline constexpr std::size_t kMaxHeaders = 64;
inline constexpr std::size_t kMaxBodyLength = 1 << 20;
inline constexpr std::size_t kMaxArguments = 1'000;  // of a command, with its variables
inline constexpr std::size_t kMaxArgument = 64 << 10;
inline constexpr std::size_t kMaxDependencies = 100;  // of depends_on, and of an after schedule
inline constexpr std::size_t kMaxRetrySequence = 100;
inline constexpr std::size_t kMaxSecretLength = 1'000;
inline constexpr std::size_t kMaxKeyLength = 500;  // of a unique key, which is part of an index
// How long a preference may keep a run from other workers.
inline constexpr Duration kMaxPreferFor = std::chrono::hours(1);
inline constexpr std::size_t kMaxSelectorLabels = 64;
inline constexpr int kMaxRetries = 1'000;
inline constexpr int kMaxMisfireRuns = 1'000;

}  // namespace ksana::model
