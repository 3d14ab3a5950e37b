#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/v1/alert_codec.hpp"
#include "ksana/model/alert/alert_incident.hpp"
#include "ksana/model/alert/alert_rule.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

struct StoredRule {
    model::AlertRule rule;
    std::int64_t version = 0;
    TimePoint updated_at{};
};

struct StoredIncident {
    model::AlertIncident incident;
    std::int64_t version = 0;  // 0: not stored yet
};

// Stores alert rules, incidents and the scan cursor as settings documents. Every write is a
// compare-and-set on the version that was read; kConflict if another writer was faster. Owned by
// AlertService and Alerter, one each. Thread-safe.
class AlertRepository {
  public:
    static constexpr std::size_t kMaxRules = 1'000;
    // From there on, closed ones are deleted for new ones.
    static constexpr std::size_t kMaxIncidents = 5'000;

    // `store` must outlive the repository.
    explicit AlertRepository(store::Store& store) : store_(store) {}

    Result<StoredRule> GetRule(const std::string& id);
    Result<store::Page<StoredRule>> ListRules(std::size_t limit, const std::string& cursor);
    Result<std::vector<StoredRule>> AllRules();
    Result<StoredRule> PutRule(const model::AlertRule& rule, store::ExpectedVersion expected,
                               model::AuditEvent audit);
    Result<void> DeleteRule(const std::string& id, std::int64_t version,
                            const model::AuditEvent& audit);

    Result<store::Page<StoredIncident>> ListIncidents(const std::string& rule, std::size_t limit,
                                                      const std::string& cursor);
    // Returns at most about kMaxIncidents.
    Result<std::vector<StoredIncident>> AllIncidents();
    // Returns the incident with its new version. An incident that is not open is kept for a month.
    Result<StoredIncident> PutIncident(const StoredIncident& incident, TimePoint now);
    Result<void> DeleteIncident(const StoredIncident& incident);

    struct Cursor {
        codec::AlertCursor value;
        std::int64_t version = 0;
        TimePoint kept_at{};  // when it was last stored
    };
    Result<std::optional<Cursor>> GetCursor();
    // Returns the new version.
    Result<std::int64_t> PutCursor(const Cursor& cursor);

  private:
    store::Store& store_;
};

}  // namespace ksana::engine
