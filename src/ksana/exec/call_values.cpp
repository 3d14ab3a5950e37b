#include "ksana/exec/call_values.hpp"

#include <algorithm>

#include "ksana/base/time_text.hpp"

namespace ksana::exec {
namespace {

TemplateValue Text(const std::string& text) { return {text, codec::QuoteJson(text)}; }

TemplateValue Number(std::int64_t number) {
    const std::string text = std::to_string(number);
    return {text, text};
}

}  // namespace

Result<CallValues> CallValues::Make(const engine::Task& task) {
    CallValues values(task);
    if (task.run.payload.empty()) return values;
    auto members = codec::JsonMembers(task.run.payload);
    if (!members) return std::move(members).error().WithContext("the run's parameters");
    values.parameters_ = std::move(members).value();
    return values;
}

std::optional<TemplateValue> CallValues::Find(std::string_view name) const {
    if (auto value = FindBuiltIn(name)) return value;
    constexpr std::string_view kPrefix = "params.";
    if (name.starts_with(kPrefix)) return FindParameter(name.substr(kPrefix.size()));
    return FindParameter(name);
}

std::optional<TemplateValue> CallValues::FindBuiltIn(std::string_view name) const {
    const model::Run& run = task_.run;
    if (name == "job_id") return Text(run.job_id);
    if (name == "job_name") return Text(task_.job ? task_.job->name : "");
    if (name == "run_id") return Text(run.id.ToString());
    if (name == "exec_id") return Text(run.status.exec_id);
    if (name == "tenant") return Text(run.tenant);
    if (name == "attempt") return Number(run.status.attempt);
    if (name == "fence") return Number(run.status.fence);
    if (name == "scheduled_at") return Text(FormatTime(run.nominal_at.value_or(run.created_at)));
    if (name == "triggered_at") {
        return Text(FormatTime(run.status.started_at.value_or(run.created_at)));
    }
    if (name == "params") {
        const std::string all = run.payload.empty() ? "{}" : run.payload;
        return TemplateValue{all, all};
    }
    return std::nullopt;
}

std::optional<TemplateValue> CallValues::FindParameter(std::string_view name) const {
    const auto found = std::ranges::find(parameters_, name, &codec::JsonMember::name);
    if (found == parameters_.end()) return std::nullopt;
    return TemplateValue{found->text, found->json};
}

}  // namespace ksana::exec
