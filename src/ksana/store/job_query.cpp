#include "ksana/store/job_query.hpp"

namespace ksana::store {

std::string RunTypeOf(const model::Job& job) {
    if (const auto* queue = std::get_if<model::QueueAction>(&job.action)) return queue->type;
    if (const auto* handler = std::get_if<model::HandlerAction>(&job.action)) {
        return handler->handler;
    }
    return {};
}

}  // namespace ksana::store
