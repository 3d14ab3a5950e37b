#include "ksana/engine/alerts/alert_notices.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/v1/alert_codec.hpp"
#include "ksana/codec/v1/callback_codec.hpp"

namespace ksana::engine {
namespace {

using model::AlertIncident;
using model::AlertNotice;
using model::AlertRule;

std::string_view WordOf(AlertNotice notice) {
    switch (notice) {
        case AlertNotice::kOpened:
            return "alert";
        case AlertNotice::kReminder:
            return "still";
        case AlertNotice::kRecovered:
            return "over";
        case AlertNotice::kTest:
            return "test";
    }
    return "alert";
}

// "job nightly" for "job:nightly".
std::string Shown(const std::string& subject) {
    const std::size_t colon = subject.find(':');
    if (colon == std::string::npos) return subject;
    return subject.substr(0, colon) + " " + subject.substr(colon + 1);
}

codec::MailText MailOf(const AlertRule& rule, const AlertIncident& incident, AlertNotice notice) {
    codec::MailText mail;
    mail.subject = fmt::format("[ksana] {}: {} of {}", WordOf(notice), model::NameOf(rule.on),
                               Shown(incident.subject));
    std::string& text = mail.text;
    text = fmt::format("{}\n\n", incident.message);
    text += fmt::format("rule      {} ({})\n", rule.name.empty() ? rule.id : rule.name, rule.id);
    text += fmt::format("about     {}\n", Shown(incident.subject));
    text += fmt::format("seen      {} time{}, last at {}\n", incident.count,
                        incident.count == 1 ? "" : "s", FormatTime(incident.last_at));
    if (incident.opened_at) text += fmt::format("since     {}\n", FormatTime(*incident.opened_at));
    if (incident.closed_at) text += fmt::format("over at   {}\n", FormatTime(*incident.closed_at));
    if (incident.run_id) text += fmt::format("run       {}\n", incident.run_id->ToString());
    text += fmt::format("incident  {}\n", incident.id.ToString());
    return mail;
}

model::Run RunOf(const Uuid& id, const model::CallbackOrder& order, TimePoint at,
                 const CallbackOptions& options) {
    model::Run run = CallbackRun(order, options);
    run.id = id;
    run.status.ready_at = at;
    return run;
}

}  // namespace

std::size_t ChannelsOf(const AlertRule& rule) {
    return (rule.webhook ? 1U : 0U) + (rule.email.empty() ? 0U : 1U);
}

std::vector<model::Run> NoticeRuns(const AlertRule& rule, const AlertIncident& incident,
                                   const model::PendingNotice& notice,
                                   const CallbackOptions& options) {
    std::vector<model::Run> runs;
    auto id = notice.ids.begin();
    model::CallbackOrder order{.event = model::CallbackEvent::kAlert, .alert = rule.id};
    if (rule.webhook && id != notice.ids.end()) {
        order.url = rule.webhook->url;
        order.signed_ = !rule.webhook->secret.empty();
        order.body = codec::AlertBody(rule, incident, notice.kind);
        runs.push_back(RunOf(*id++, order, notice.at, options));
    }
    if (!rule.email.empty() && id != notice.ids.end()) {
        order.url = fmt::format("mailto:{}", fmt::join(rule.email, ","));
        order.signed_ = false;
        order.body = codec::MailTextToJson(MailOf(rule, incident, notice.kind));
        runs.push_back(RunOf(*id++, order, notice.at, options));
    }
    return runs;
}

}  // namespace ksana::engine
