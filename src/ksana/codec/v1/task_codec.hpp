#pragma once

#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/run/new_task.hpp"

namespace ksana::codec {

// A task as somebody submits it. Faults of the text only: what a task may be is
// model::ValidateNewTask's.
Result<model::NewTask> NewTaskFromJson(std::string_view text);

struct TaskBatchLimits {
    std::size_t bytes = 0;
    std::size_t tasks = 0;
};

// {"runs": […]}
Result<std::vector<model::NewTask>> NewTasksFromJson(std::string_view text,
                                                     const TaskBatchLimits& limits);

extern const NamedSchema kTaskDefinitionSchema;
extern const NamedSchema kTaskBatchSchema;

}  // namespace ksana::codec
