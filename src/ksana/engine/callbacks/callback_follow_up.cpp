#include "ksana/engine/callbacks/callback_follow_up.hpp"

#include "ksana/codec/v1/callback_codec.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::engine {
namespace {

using model::CallbackEvent;
using model::Run;

model::CallbackOrder OrderOf(const Run& ended, CallbackEvent event, const model::RunType* type) {
    model::CallbackOrder order{.event = event, .body = codec::CallbackBody(ended, event)};
    if (type == nullptr) return order;
    const model::Callbacks& callbacks = type->callbacks;
    const model::Callback& one =
        event == CallbackEvent::kSuccess ? callbacks.success : callbacks.error;
    order.url = one.url;
    order.method = one.method;
    order.signed_ = callbacks.security == model::CallbackSecurity::kAkSk;
    return order;
}

// A type that the cache does not have may have been created on another node just now. Whether it
// names a receiver is checked when the callback is sent.
Run CallbackOf(const Run& ended, CallbackEvent event, const TypeCache& types,
               const CallbackOptions& options) {
    const auto type = types.Find(ended.type);
    Run run = CallbackRun(OrderOf(ended, event, type.get()), options);
    run.tenant = ended.tenant;
    run.type = ended.type;
    run.priority = ended.priority;
    run.parent = ended.id;
    run.trace_parent = model::TraceParentForChild(ended);
    run.status.ready_at = ended.updated_at;
    return run;
}

}  // namespace

Run CallbackRun(const model::CallbackOrder& order, const CallbackOptions& options) {
    Run run;
    run.kind = model::ActionKind::kHttp;
    run.trigger = model::RunTrigger::kCallback;
    run.payload = codec::CallbackOrderToJson(order);
    run.policy.retry = options.retry;
    run.policy.timeout = options.timeout;
    run.policy.need_manual = true;
    return run;
}

store::FollowUp MakeCallbackFollowUp(const TypeCache& types, CallbackOptions options) {
    return [&types, options = std::move(options)](const Run& ended, model::CallbackWanted wanted) {
        std::vector<Run> runs;
        if (wanted == model::CallbackWanted::kNone) return runs;
        const CallbackEvent event = wanted == model::CallbackWanted::kSuccess
                                        ? CallbackEvent::kSuccess
                                        : CallbackEvent::kError;
        runs.push_back(CallbackOf(ended, event, types, options));
        return runs;
    };
}

}  // namespace ksana::engine
