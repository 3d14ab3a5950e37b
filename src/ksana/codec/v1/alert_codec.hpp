#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/alert/alert_incident.hpp"
#include "ksana/model/alert/alert_rule.hpp"

namespace ksana::codec {

// Reads a rule as users write it, without its id, which the path names. A secret of "***" means the
// one of `before`; it is refused if `before` is null or has none.
Result<model::AlertRule> AlertRuleFromJson(std::string_view text, const model::AlertRule* before);
// Returns a rule as /api/v1 shows it, with "***" for the secret.
std::string AlertRuleViewToJson(const model::AlertRule& rule, std::int64_t version,
                                TimePoint updated_at);

// Writes and reads the stored form, which includes the secret.
std::string AlertRuleToRecord(const model::AlertRule& rule);
Result<model::AlertRule> AlertRuleFromRecord(std::string_view text);

std::string IncidentToRecord(const model::AlertIncident& incident);
Result<model::AlertIncident> IncidentFromRecord(std::string_view text);
std::string IncidentViewToJson(const model::AlertIncident& incident);

// How far the alerter has read.
struct AlertCursor {
    TimePoint finished_at{};      // runs that ended before this are processed
    std::int64_t ledger_seq = 0;  // ledger entries up to this are processed
    TimePoint since{};            // nothing before this is read
    friend bool operator==(const AlertCursor&, const AlertCursor&) = default;
};
std::string AlertCursorToJson(const AlertCursor& cursor);
Result<AlertCursor> AlertCursorFromJson(std::string_view text);

// Returns the body of a webhook request.
std::string AlertBody(const model::AlertRule& rule, const model::AlertIncident& incident,
                      model::AlertNotice notice);

// Content of a mail: the body of an order whose receivers are mail addresses.
struct MailText {
    std::string subject;
    std::string text;
};
std::string MailTextToJson(const MailText& mail);
Result<MailText> MailTextFromJson(std::string_view text);

// Schemas of the requests and answers above.
extern const NamedSchema kAlertDefinitionSchema;
extern const NamedSchema kAlertSchema;
extern const NamedSchema kIncidentSchema;

}  // namespace ksana::codec
