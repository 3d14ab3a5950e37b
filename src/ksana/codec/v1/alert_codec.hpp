#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/alert/alert_incident.hpp"
#include "ksana/model/alert/alert_rule.hpp"

namespace ksana::codec {

// A rule as people write it. Not its id, which is in the path. A secret that is written as "***"
// stays as it is in `before` (may be null).
Result<model::AlertRule> AlertRuleFromJson(std::string_view text, const model::AlertRule* before);
// As it is shown: a secret as "***".
std::string AlertRuleViewToJson(const model::AlertRule& rule, std::int64_t version,
                                TimePoint updated_at);

// For a store: with the secret.
std::string AlertRuleToRecord(const model::AlertRule& rule);
Result<model::AlertRule> AlertRuleFromRecord(std::string_view text);

std::string IncidentToRecord(const model::AlertIncident& incident);
Result<model::AlertIncident> IncidentFromRecord(std::string_view text);
std::string IncidentViewToJson(const model::AlertIncident& incident);

// How far the alerter has looked.
struct AlertCursor {
    TimePoint finished_at{};      // runs that ended before this are done with
    std::int64_t ledger_seq = 0;  // and entries of the ledger up to this
    TimePoint since{};            // nothing before this is looked at
    friend bool operator==(const AlertCursor&, const AlertCursor&) = default;
};
std::string AlertCursorToJson(const AlertCursor& cursor);
Result<AlertCursor> AlertCursorFromJson(std::string_view text);

// What a webhook gets.
std::string AlertBody(const model::AlertRule& rule, const model::AlertIncident& incident,
                      model::AlertNotice notice);

// What a mail is made of: the body of an order that goes to addresses.
struct MailText {
    std::string subject;
    std::string text;
};
std::string MailTextToJson(const MailText& mail);
Result<MailText> MailTextFromJson(std::string_view text);

// What a client sends, and what answers show.
extern const NamedSchema kAlertDefinitionSchema;
extern const NamedSchema kAlertSchema;
extern const NamedSchema kIncidentSchema;

}  // namespace ksana::codec
