#include "ksana/model/job/job_run.hpp"

namespace ksana::model {
namespace {

std::string PayloadOf(const Action& action) {
    if (const auto* queue = std::get_if<QueueAction>(&action)) return queue->payload;
    if (const auto* handler = std::get_if<HandlerAction>(&action)) return handler->input;
    return {};
}

std::string CategoryOf(const Action& action) {
    const auto* queue = std::get_if<QueueAction>(&action);
    return queue == nullptr ? std::string() : queue->category;
}

}  // namespace

std::string RunTypeOf(const JobDefinition& job) {
    if (const auto* queue = std::get_if<QueueAction>(&job.action)) return queue->type;
    if (const auto* handler = std::get_if<HandlerAction>(&job.action)) return handler->handler;
    return {};
}

Run RunOf(const Job& job, const RunType* type, const PolicyDefaults& defaults) {
    Run run;
    run.job_id = job.id;
    run.tenant = job.tenant;
    run.type = RunTypeOf(job);
    run.category = CategoryOf(job.action);
    run.creator = job.owner;
    run.kind = KindOf(job.action);
    run.priority = job.priority;
    run.payload = PayloadOf(job.action);
    if (type != nullptr && run.category.empty()) run.category = type->category;
    run.policy = EffectivePolicy(&job, type, defaults);
    run.status.watched = job.state.dependants > 0;
    return run;
}

}  // namespace ksana::model
