#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/error.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/base/text/json_output.hpp"
#include "ksana/codec/dispatcher/dispatcher_values.hpp"
#include "ksana/model/job/job.hpp"

// Tasks in the terms of document D (D-07): jobs whose cron schedule puts work into the queue.

namespace ksana::codec {

// Returns whether document D has words for the job: it has a cron schedule and a queue action.
bool IsDispatcherTask(const model::Job& job);

// A task as a client sent it.
struct DispatcherTask {
    model::Job job;
    std::optional<std::int64_t> version;  // the client changes this version and no other
    // Every fault of the text. The members that they name keep the value of the basis.
    std::vector<Problem> problems;
    std::size_t untold = 0;  // problems that `problems` leaves out
};
// Reads a task to create. `retry` has the values for what the text does not say. Fails only if the
// text is not JSON.
Result<DispatcherTask> DispatcherTaskFromJson(std::string_view text,
                                              const model::RetryPolicy& retry);
// Reads a task that replaces `before`. What document D has no words for stays, and so does the
// status unless the text has one.
Result<DispatcherTask> ReplacedDispatcherTask(std::string_view text, const model::Job& before,
                                              const model::RetryPolicy& retry);

// Renames the members that faults of a job point to into those of a task.
std::vector<Problem> InDispatcherWords(std::vector<Problem> problems);

// Writes the members of a task into the open object.
void WriteDispatcherTask(JsonOutput& output, const model::Job& job, DispatcherView view);

// Reads the body of a trigger, {"params": …} or nothing. Returns the payload, empty if none is
// given.
Result<std::string> TriggerParamsFromJson(std::string_view text);

}  // namespace ksana::codec
