#include "ksana/engine/alerts/alert_repository.hpp"

#include <fmt/core.h>

#include "ksana/base/log/log.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/store/page.hpp"

namespace ksana::engine {
namespace {

constexpr std::string_view kRules = "alert/";
constexpr std::string_view kIncidents = "alert_incident/";
constexpr const char* kCursor = "alert_cursor";
constexpr Duration kKept = std::chrono::hours(24 * 30);

std::string KeyOf(std::string_view prefix, const std::string& name) {
    return std::string(prefix) + name;
}

std::string KeyOf(const model::AlertIncident& incident) {
    return fmt::format("{}{}/{}", kIncidents, incident.rule, incident.subject);
}

Result<StoredRule> RuleOf(const model::Document& document) {
    auto rule = codec::AlertRuleFromRecord(document.body);
    if (!rule) return std::move(rule).error().WithContext(document.key);
    return StoredRule{
        .rule = *std::move(rule), .version = document.version, .updated_at = document.updated_at};
}

Result<StoredIncident> IncidentOf(const model::Document& document) {
    auto incident = codec::IncidentFromRecord(document.body);
    if (!incident) return std::move(incident).error().WithContext(document.key);
    return StoredIncident{.incident = *std::move(incident), .version = document.version};
}

// Logs and skips documents that cannot be parsed, such as those that a newer server wrote.
template <class T>
Result<store::Page<T>> ListOf(store::Store& store, store::ListParams params,
                              Result<T> (*read)(const model::Document&)) {
    KSANA_TRY(const store::Page<model::Document> documents, store.settings().List(params));
    store::Page<T> page;
    page.next = documents.next;
    for (const model::Document& document : documents.items) {
        auto one = read(document);
        if (one) {
            page.items.push_back(*std::move(one));
        } else {
            Log(LogLevel::kError, "an alert cannot be read and is not obeyed",
                {{"setting", document.key}, {"error", one.error().Describe()}});
        }
    }
    return page;
}

template <class List>
auto AllOf(std::size_t most, const List& list) -> Result<decltype(list(std::string())->items)> {
    decltype(list(std::string())->items) all;
    std::string cursor;
    do {
        KSANA_TRY(auto page, list(cursor));
        for (auto& item : page.items) all.push_back(std::move(item));
        cursor = page.next;
    } while (!cursor.empty() && all.size() < most);
    return all;
}

}  // namespace

Result<StoredRule> AlertRepository::GetRule(const std::string& id) {
    const Error none(Code::kNotFound, fmt::format("there is no alert \"{}\"", id));
    if (!IsIdentifier(id)) return none;
    const auto document = store_.settings().Get(KeyOf(kRules, id));
    if (document) return RuleOf(*document);
    return document.error().code == Code::kNotFound ? none : document.error();
}

Result<store::Page<StoredRule>> AlertRepository::ListRules(std::size_t limit,
                                                           const std::string& cursor) {
    return ListOf<StoredRule>(
        store_, {.prefix = std::string(kRules), .limit = limit, .cursor = cursor}, RuleOf);
}

Result<std::vector<StoredRule>> AlertRepository::AllRules() {
    return AllOf(kMaxRules, [this](const std::string& cursor) {
        return ListRules(store::kMaxPageSize, cursor);
    });
}

Result<StoredRule> AlertRepository::PutRule(const model::AlertRule& rule,
                                            store::ExpectedVersion expected,
                                            model::AuditEvent audit) {
    KSANA_TRY(const model::Document written,
              store_.settings().Put({.key = KeyOf(kRules, rule.id),
                                     .value = codec::AlertRuleToRecord(rule),
                                     .expected = expected,
                                     .expires_at = {},
                                     .audit = std::move(audit)}));
    return StoredRule{.rule = rule, .version = written.version, .updated_at = written.updated_at};
}

Result<void> AlertRepository::DeleteRule(const std::string& id, std::int64_t version,
                                         const model::AuditEvent& audit) {
    return store_.settings().Delete(KeyOf(kRules, id), version, audit);
}

Result<store::Page<StoredIncident>> AlertRepository::ListIncidents(const std::string& rule,
                                                                   std::size_t limit,
                                                                   const std::string& cursor) {
    std::string prefix(kIncidents);
    if (!rule.empty()) prefix += rule + "/";
    return ListOf<StoredIncident>(
        store_, {.prefix = std::move(prefix), .limit = limit, .cursor = cursor}, IncidentOf);
}

Result<std::vector<StoredIncident>> AlertRepository::AllIncidents() {
    return AllOf(kMaxIncidents, [this](const std::string& cursor) {
        return ListIncidents("", store::kMaxPageSize, cursor);
    });
}

Result<StoredIncident> AlertRepository::PutIncident(const StoredIncident& incident, TimePoint now) {
    const bool open = incident.incident.state == model::IncidentState::kOpen;
    std::optional<TimePoint> expires;
    if (!open) expires = now + kKept;
    KSANA_TRY(const model::Document written,
              store_.settings().Put({.key = KeyOf(incident.incident),
                                     .value = codec::IncidentToRecord(incident.incident),
                                     .expected = incident.version,
                                     .expires_at = expires,
                                     .audit = {}}));
    return StoredIncident{.incident = incident.incident, .version = written.version};
}

Result<void> AlertRepository::DeleteIncident(const StoredIncident& incident) {
    auto deleted = store_.settings().Delete(KeyOf(incident.incident), incident.version);
    if (!deleted && deleted.error().code != Code::kNotFound) return deleted;
    return {};
}

Result<std::optional<AlertRepository::Cursor>> AlertRepository::GetCursor() {
    const auto document = store_.settings().Get(kCursor);
    if (!document) {
        if (document.error().code == Code::kNotFound) return std::optional<Cursor>();
        return document.error();
    }
    KSANA_TRY(const codec::AlertCursor value, codec::AlertCursorFromJson(document->body));
    return std::optional(
        Cursor{.value = value, .version = document->version, .kept_at = document->updated_at});
}

Result<std::int64_t> AlertRepository::PutCursor(const Cursor& cursor) {
    KSANA_TRY(const model::Document written,
              store_.settings().Put({.key = kCursor,
                                     .value = codec::AlertCursorToJson(cursor.value),
                                     .expected = cursor.version,
                                     .expires_at = {},
                                     .audit = {}}));
    return written.version;
}

}  // namespace ksana::engine
