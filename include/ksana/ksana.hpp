#pragma once

// Jobs inside a C++ program: docs/library.md.

#include "ksana/context.hpp"
#include "ksana/declare.hpp"
#include "ksana/job.hpp"
#include "ksana/listener.hpp"
#include "ksana/logger.hpp"
#include "ksana/scheduler.hpp"
#include "ksana/task.hpp"
#include "ksana/task_context.hpp"
#include "ksana/worker.hpp"
