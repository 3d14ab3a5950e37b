#pragma once

#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/run/new_task.hpp"

namespace ksana::codec {

// Reads a task as a client submits it. Checks the text only; model::ValidateNewTask checks the
// values.
Result<model::NewTask> NewTaskFromJson(std::string_view text);

struct TaskBatchLimits {
    std::size_t bytes = 0;
    std::size_t tasks = 0;
};

// Reads {"runs": […]}.
Result<std::vector<model::NewTask>> NewTasksFromJson(std::string_view text,
                                                     const TaskBatchLimits& limits);

extern const NamedSchema kTaskDefinitionSchema;
extern const NamedSchema kTaskBatchSchema;

}  // namespace ksana::codec
