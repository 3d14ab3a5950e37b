#include "ksana/engine/callbacks/callback_call.hpp"

#include <fmt/core.h>

#include "ksana/codec/v1/callback_codec.hpp"
#include "ksana/engine/alerts/alert_repository.hpp"

namespace ksana::engine {

namespace {

SigningKeys KeysOf(const model::Callbacks& callbacks) {
    SigningKeys keys{.access_key = callbacks.access_key, .secrets = {callbacks.secret_key}};
    if (!callbacks.previous_secret_key.empty()) {
        keys.secrets.push_back(callbacks.previous_secret_key);
    }
    return keys;
}

}  // namespace

Result<SigningKeys> SigningKeysOf(store::Store& store, const std::string& type) {
    const auto found = store.types().Get(type);
    if (!found && found.error().code == Code::kNotFound) {
        return Error(
            Code::kNotFound,
            fmt::format("the call is to be signed as the type \"{}\", which is gone", type));
    }
    if (!found) return found.error();
    const model::Callbacks& callbacks = found->value.callbacks;
    if (callbacks.security == model::CallbackSecurity::kAkSk) return KeysOf(callbacks);
    return Error(Code::kInvalidArgument,
                 fmt::format("the call is to be signed as the type \"{}\", whose callbacks have no "
                             "security \"aksk\"",
                             type));
}

CallbackCall ResolveCallback(const model::Run& run, const model::RunType* type) {
    CallbackCall call;
    auto order = codec::CallbackOrderFromJson(run.payload);
    if (!order) {
        call.fault = "what is to be sent cannot be read: " + order.error().Describe();
        return call;
    }
    call.method = order->method;
    call.url = std::move(order->url);
    call.body = std::move(order->body);
    if (type == nullptr) {
        if (order->signed_) {
            call.fault = fmt::format(
                "it is to be signed, and the type \"{}\" that has the secret is gone", run.type);
        }
        return call;
    }
    const model::Callbacks& callbacks = type->callbacks;
    const bool success = order->event == model::CallbackEvent::kSuccess;
    const model::Callback& one = success ? callbacks.success : callbacks.error;
    if (!one.url.empty()) {
        call.url = one.url;
        call.method = one.method;
    }
    if (callbacks.security != model::CallbackSecurity::kAkSk) return call;
    SigningKeys keys = KeysOf(callbacks);
    call.access_key = std::move(keys.access_key);
    call.secrets = std::move(keys.secrets);
    return call;
}

CallbackCall ResolveNotice(model::CallbackOrder order, const model::AlertRule* rule) {
    CallbackCall call;
    call.method = order.method;
    call.url = std::move(order.url);
    call.body = std::move(order.body);
    if (call.url.starts_with(kMailTo)) return call;
    if (rule != nullptr && rule->webhook) {
        call.url = rule->webhook->url;
        call.access_key = rule->webhook->access_key;
        if (!rule->webhook->secret.empty()) call.secrets.push_back(rule->webhook->secret);
    } else if (order.signed_) {
        call.fault = fmt::format(
            "it is to be signed, and the alert \"{}\" that has the secret is gone", order.alert);
    }
    return call;
}

namespace {

// A rule that no longer exists is passed on as null.
Result<std::shared_ptr<const CallbackCall>> NoticeCallOf(store::Store& store,
                                                         model::CallbackOrder order) {
    const auto rule = AlertRepository(store).GetRule(order.alert);
    if (!rule && rule.error().code != Code::kNotFound) return rule.error();
    return std::make_shared<const CallbackCall>(
        ResolveNotice(std::move(order), rule ? &rule->rule : nullptr));
}

}  // namespace

Result<std::shared_ptr<const CallbackCall>> CallbackCallOf(store::Store& store,
                                                           const model::Run& run) {
    std::shared_ptr<const CallbackCall> call;
    if (run.trigger != model::RunTrigger::kCallback) return call;
    if (run.type.empty()) {
        auto order = codec::CallbackOrderFromJson(run.payload);
        const bool notice = order && order->event == model::CallbackEvent::kAlert;
        if (notice) return NoticeCallOf(store, *std::move(order));
    }
    const auto type = store.types().Get(run.type);
    if (!type && type.error().code != Code::kNotFound) return type.error();
    return std::make_shared<const CallbackCall>(
        ResolveCallback(run, type ? &type->value : nullptr));
}

}  // namespace ksana::engine
