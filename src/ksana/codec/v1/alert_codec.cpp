#include "ksana/codec/v1/alert_codec.hpp"

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/value_writer.hpp"

namespace ksana::codec {

using model::AlertIncident;
using model::AlertRule;
using model::AlertScope;
using model::AlertWebhook;
using model::OwedNotice;
using model::QuietHours;

template <>
struct FieldsOf<AlertScope> {
    template <class V>
    static void Visit(V& v) {
        v.Rare("job", &AlertScope::job);
        v.Rare("group", &AlertScope::group);
        v.Rare("type", &AlertScope::type);
        v.Rare("tenant", &AlertScope::tenant);
        v.Rare("labels", &AlertScope::labels);
    }
};

template <>
struct FieldsOf<AlertWebhook> {
    template <class V>
    static void Visit(V& v) {
        v.Required("url", &AlertWebhook::url);
        v.Rare("access_key", &AlertWebhook::access_key);
        v.Rare("secret", &AlertWebhook::secret);
    }
};

template <>
struct FieldsOf<QuietHours> {
    template <class V>
    static void Visit(V& v) {
        v("zone", &QuietHours::zone);
        v.Required("from", &QuietHours::from);
        v.Required("to", &QuietHours::to);
        v.Rare("days", &QuietHours::days);
    }
};

template <>
struct FieldsOf<AlertRule> {
    template <class V>
    static void Visit(V& v) {
        v("name", &AlertRule::name);
        v("enabled", &AlertRule::enabled);
        v.Required("on", &AlertRule::on);
        v("consecutive", &AlertRule::consecutive);
        v.Rare("longer_than", &AlertRule::longer_than);
        v.Rare("factor", &AlertRule::factor);
        v("scope", &AlertRule::scope);
        v.Rare("webhook", &AlertRule::webhook);
        v("email", &AlertRule::email);
        v("remind_every", &AlertRule::remind_every);
        v("recovery", &AlertRule::recovery);
        v.Rare("quiet", &AlertRule::quiet);
        if (v.form() == JsonForm::kRecord) {
            v.Key("id", &AlertRule::id);
            v.Key("created_at", &AlertRule::created_at);
        }
    }
};

template <>
struct FieldsOf<OwedNotice> {
    template <class V>
    static void Visit(V& v) {
        v.Key("kind", &OwedNotice::kind);
        v.Key("at", &OwedNotice::at);
        v.Key("ids", &OwedNotice::ids);
    }
};

template <>
struct FieldsOf<AlertIncident> {
    template <class V>
    static void Visit(V& v) {
        VisitShown(v);
        v("seen_until", &AlertIncident::seen_until);
        v("rule_at", &AlertIncident::rule_at);
        v("told", &AlertIncident::told);
        v("over_told", &AlertIncident::over_told);
        v("paced_until", &AlertIncident::paced_until);
        v("owed", &AlertIncident::owed);
    }
    template <class V>
    static void VisitShown(V& v) {
        v.Key("id", &AlertIncident::id);
        v.Key("rule", &AlertIncident::rule);
        v.Key("subject", &AlertIncident::subject);
        v.Key("state", &AlertIncident::state);
        v.Key("count", &AlertIncident::count);
        v.Rare("opened_at", &AlertIncident::opened_at);
        v.Rare("closed_at", &AlertIncident::closed_at);
        v.Key("last_at", &AlertIncident::last_at);
        v.Key("message", &AlertIncident::message);
        v.Rare("run_id", &AlertIncident::run_id);
        v.Rare("told_at", &AlertIncident::told_at);
    }
};

template <>
struct FieldsOf<AlertCursor> {
    template <class V>
    static void Visit(V& v) {
        v.Key("finished_at", &AlertCursor::finished_at);
        v.Key("ledger_seq", &AlertCursor::ledger_seq);
        v.Key("since", &AlertCursor::since);
    }
};

template <>
struct FieldsOf<MailText> {
    template <class V>
    static void Visit(V& v) {
        v.Key("subject", &MailText::subject);
        v.Key("text", &MailText::text);
    }
};

namespace {

constexpr std::string_view kHidden = "***";

template <class T>
Result<T> FromRecord(std::string_view text) {
    return ReadDocument<T>(
        text, JsonForm::kRecord, LimitsOfOurs(text),
        [](JsonReader& reader, const Node& node, T& out) { reader.Read(node, out); });
}

}  // namespace

Result<AlertRule> AlertRuleFromJson(std::string_view text, const AlertRule* before) {
    KSANA_TRY(AlertRule rule,
              ReadDocument<AlertRule>(text, JsonForm::kDefinition, {},
                                      [](JsonReader& reader, const Node& node, AlertRule& out) {
                                          reader.Read(node, out);
                                      }));
    if (rule.webhook && rule.webhook->secret == kHidden) {
        const bool known = before != nullptr && before->webhook;
        rule.webhook->secret = known ? before->webhook->secret : "";
        if (rule.webhook->secret.empty()) {
            return Error(std::vector<Problem>{
                {"/webhook/secret", "\"***\" stands for the secret that is there; there is none"}});
        }
    }
    return rule;
}

std::string AlertRuleViewToJson(const AlertRule& rule, std::int64_t version, TimePoint updated_at) {
    AlertRule shown = rule;
    if (shown.webhook && !shown.webhook->secret.empty()) shown.webhook->secret = kHidden;
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    FieldWriter<AlertRule> fields(writer, shown, true);
    output.BeginObject();
    writer.Member("id", rule.id);
    FieldsOf<AlertRule>::Visit(fields);
    writer.Member("version", version);
    writer.Member("created_at", rule.created_at);
    writer.Member("updated_at", updated_at);
    output.EndObject();
    return output.Take();
}

std::string AlertRuleToRecord(const AlertRule& rule) {
    return FieldsToJson(rule, JsonForm::kRecord);
}
Result<AlertRule> AlertRuleFromRecord(std::string_view text) { return FromRecord<AlertRule>(text); }

std::string IncidentToRecord(const AlertIncident& incident) {
    return FieldsToJson(incident, JsonForm::kRecord);
}
Result<AlertIncident> IncidentFromRecord(std::string_view text) {
    return FromRecord<AlertIncident>(text);
}

std::string IncidentViewToJson(const AlertIncident& incident) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    FieldWriter<AlertIncident> fields(writer, incident, true);
    output.BeginObject();
    FieldsOf<AlertIncident>::VisitShown(fields);
    output.EndObject();
    return output.Take();
}

std::string AlertCursorToJson(const AlertCursor& cursor) {
    return FieldsToJson(cursor, JsonForm::kRecord);
}
Result<AlertCursor> AlertCursorFromJson(std::string_view text) {
    return FromRecord<AlertCursor>(text);
}

std::string AlertBody(const AlertRule& rule, const AlertIncident& incident,
                      model::AlertNotice notice) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginObject();
    writer.Member("event", notice);
    output.Key("rule");
    output.BeginObject();
    writer.Member("id", rule.id);
    writer.Member("name", rule.name);
    writer.Member("on", rule.on);
    output.EndObject();
    output.Key("incident");
    FieldWriter<AlertIncident> fields(writer, incident, true);
    output.BeginObject();
    FieldsOf<AlertIncident>::VisitShown(fields);
    output.EndObject();
    output.EndObject();
    return output.Take();
}

std::string MailTextToJson(const MailText& mail) { return FieldsToJson(mail, JsonForm::kRecord); }
Result<MailText> MailTextFromJson(std::string_view text) { return FromRecord<MailText>(text); }

}  // namespace ksana::codec
