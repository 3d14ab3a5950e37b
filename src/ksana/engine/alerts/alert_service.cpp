#include "ksana/engine/alerts/alert_service.hpp"

#include <fmt/core.h>

#include "ksana/codec/v1/audit_view.hpp"
#include "ksana/engine/alerts/alert_notices.hpp"
#include "ksana/model/audit_event.hpp"

namespace ksana::engine {
namespace {

model::AuditEvent AuditOfAlert(const std::string& id, std::string_view action, const Actor& by) {
    return AuditOf(by, {.action = action,
                        .resource_type = model::audit::kAlert,
                        .resource_id = id,
                        .tenant = {},
                        .data = codec::AuditDataToJson({{"request_id", by.request_id}})});
}

}  // namespace

Result<std::optional<StoredRule>> AlertService::Find(const std::string& id) {
    auto found = repository_.GetRule(id);
    if (found) return std::optional(*std::move(found));
    if (found.error().code == Code::kNotFound) return std::optional<StoredRule>();
    return found.error();
}

Result<StoredRule> AlertService::Put(model::AlertRule rule, const std::optional<StoredRule>& before,
                                     const Actor& by) {
    if (auto problems = model::ValidateAlertRule(rule, zones_); !problems.empty()) {
        return Error(std::move(problems));
    }
    if (!before) {
        KSANA_TRY(const auto rules, repository_.AllRules());
        if (rules.size() >= AlertRepository::kMaxRules) {
            return Error(Code::kExhausted,
                         fmt::format("there are {} alerts already", rules.size()));
        }
    }
    // An incident of a type does not record the tenant of its tasks, so a rule for another tenant
    // starts over.
    const bool goes_on = before && before->rule.enabled && before->rule.on == rule.on &&
                         before->rule.scope.tenant == rule.scope.tenant;
    if (goes_on) {
        rule.created_at = before->rule.created_at;
    } else {
        KSANA_TRY(rule.created_at, store_.Now());
    }
    const std::string_view action = before ? model::audit::kChanged : model::audit::kCreated;
    return repository_.PutRule(rule, before ? before->version : 0,
                               AuditOfAlert(rule.id, action, by));
}

Result<void> AlertService::Delete(const StoredRule& rule, const Actor& by) {
    KSANA_TRY_VOID(repository_.DeleteRule(rule.rule.id, rule.version,
                                          AuditOfAlert(rule.rule.id, model::audit::kDeleted, by)));
    std::string cursor;
    do {
        KSANA_TRY(const auto page,
                  repository_.ListIncidents(rule.rule.id, store::kMaxPageSize, cursor));
        for (const StoredIncident& one : page.items)
            KSANA_TRY_VOID(repository_.DeleteIncident(one));
        cursor = page.next;
    } while (!cursor.empty());
    return {};
}

Result<std::vector<model::Run>> AlertService::Test(const std::string& id) {
    KSANA_TRY(const StoredRule stored, repository_.GetRule(id));
    KSANA_TRY(const TimePoint now, store_.Now());
    const model::AlertIncident incident{.id = ids_.Next(),
                                        .rule = id,
                                        .subject = "test:" + id,
                                        .state = model::IncidentState::kOpen,
                                        .count = 1,
                                        .seen_until = now,
                                        .opened_at = now,
                                        .last_at = now,
                                        .message = "This is a test: nothing has happened."};
    model::PendingNotice notice{.kind = model::AlertNotice::kTest, .at = now, .ids = {}};
    for (std::size_t n = 0; n < ChannelsOf(stored.rule); ++n) notice.ids.push_back(ids_.Next());
    std::vector<model::Run> runs = NoticeRuns(stored.rule, incident, notice, notices_);
    KSANA_TRY([[maybe_unused]] const auto submitted,
              store_.runs().Submit({.now = now, .runs = runs}));
    for (model::Run& run : runs) {
        run.created_at = run.updated_at = now;
        run.status.state = model::RunState::kQueued;
    }
    return runs;
}

}  // namespace ksana::engine
