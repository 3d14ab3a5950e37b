#include "ksana/sdk/tasks/task_handlers.hpp"

#include <fmt/core.h>

#include <utility>

#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/sdk/run/execution.hpp"

namespace ksana::detail {

struct JobContextAccess {
    static Execution& ExecutionOf(JobContext& context) { return context.execution_; }
};

}  // namespace ksana::detail

namespace ksana::sdk {
namespace {

// A handler as the JobRunner runs it. Exceptions with a meaning are noted in the execution's
// answer; those that are failures go on to the runner, which captures them.
class TaskJob final : public PlainJob {
  public:
    explicit TaskJob(TaskHandler handler) : handler_(std::move(handler)) {}

    void Run(JobContext& context) override {
        detail::Execution& execution = detail::JobContextAccess::ExecutionOf(context);
        TaskContext task(execution);
        model::Event& answer = execution.answer;
        answer.kind = model::EventKind::kRetryableFailure;
        try {
            answer.result = handler_(task);
            answer.kind = model::EventKind::kSuccess;
        } catch (const Snooze& snooze) {
            answer.kind = model::EventKind::kSnooze;
            answer.after = snooze.after;
        } catch (const PermanentFailure&) {
            answer.kind = model::EventKind::kPermanentFailure;
            throw;
        } catch (const RetryAfter& retry) {
            answer.after = retry.after;
            throw;
        }
    }

  private:
    const TaskHandler handler_;
};

std::shared_ptr<const JobPolicy> TaskPolicy() {
    auto policy = std::make_shared<JobPolicy>();
    policy->spec.mode = ExecutionMode::kAllNodes;  // the lease keeps others away, no lock
    return policy;
}

}  // namespace

Result<void> TaskHandlers::Add(std::string type, TaskHandler handler) {
    if (!IsIdentifier(type)) {
        return Error(
            Code::kInvalidArgument,
            fmt::format("\"{}\": a type is {}", Excerpt(Printable(type), 200), kIdentifierRule));
    }
    const MutexLock lock(mutex_);
    if (entries_.contains(type)) {
        return Error(Code::kAlreadyExists, fmt::format("\"{}\" has a handler already", type));
    }
    auto entry = std::make_unique<JobEntry>([](detail::WorkItem&) {}, nullptr, type);
    entry->object.plain = std::make_unique<TaskJob>(std::move(handler));
    entry->policy = TaskPolicy();
    entries_.emplace(std::move(type), std::move(entry));
    return {};
}

JobEntry* TaskHandlers::Find(std::string_view type) const {
    const MutexLock lock(mutex_);
    const auto found = entries_.find(type);
    return found == entries_.end() ? nullptr : found->second.get();
}

std::vector<std::string> TaskHandlers::types() const {
    std::vector<std::string> names;
    const MutexLock lock(mutex_);
    names.reserve(entries_.size());
    for (const auto& [type, entry] : entries_) names.push_back(type);
    return names;
}

}  // namespace ksana::sdk
