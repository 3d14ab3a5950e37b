#include "ksana/codec/v1/alert_codec.hpp"

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/schema/field_schema.hpp"

namespace ksana::codec {

using model::AlertIncident;
using model::AlertRule;
using model::AlertScope;
using model::AlertWebhook;
using model::PendingNotice;
using model::QuietHours;

template <>
struct FieldsOf<AlertScope> {
    static constexpr SchemaDoc kSchema{.means =
                                           "Which jobs and types an alert is about: all that is "
                                           "named must hold; nothing: everything."};

    template <class V>
    static void Visit(V& v) {
        v.Rare("job", &AlertScope::job, "Id of a job.");
        v.Rare("group", &AlertScope::group, "Jobs of this group.");
        v.Rare("type", &AlertScope::type, "Runs of this type.");
        v.Rare("tenant", &AlertScope::tenant, "Of this tenant.");
        v.Rare("labels", &AlertScope::labels, "Jobs with all of these.");
    }
};

template <>
struct FieldsOf<AlertWebhook> {
    static constexpr SchemaDoc kSchema{.means = "A URL that is told."};

    template <class V>
    static void Visit(V& v) {
        v.Required("url", &AlertWebhook::url, "Where the notice goes.");
        v.Rare("access_key", &AlertWebhook::access_key, "Names the key to the receiver.");
        v.Rare("secret", &AlertWebhook::secret, "Signs as callbacks are signed; shown as ***.");
    }
};

template <>
struct FieldsOf<QuietHours> {
    static constexpr SchemaDoc kSchema{
        .means = "Hours in which nobody is told; afterwards one notice sums up."};

    template <class V>
    static void Visit(V& v) {
        v("zone", &QuietHours::zone, "Time zone of the hours.");
        v.Required("from", &QuietHours::from, Doc("When they begin.").Example("22:00"));
        v.Required("to", &QuietHours::to, Doc("When they end.").Example("07:00"));
        v.Rare("days", &QuietHours::days, "On which they begin; none: every day.");
    }
};

template <>
struct FieldsOf<AlertRule> {
    static constexpr SchemaDoc kSchema{.name = "AlertDefinition",
                                       .means = "Who is told of what.",
                                       .example =
                                           R"({"on": "failure", "name": "Nightly jobs break",
"scope": {"group": "nightly"}, "email": ["ops@example.com"], "remind_every": "4h",
"webhook": {"url": "https://chat.example.com/hook", "secret": "hush-hush"}})"};

    template <class V>
    static void Visit(V& v) {
        v("name", &AlertRule::name, Doc("What people call it.").AtMost(200));
        v("enabled", &AlertRule::enabled, "false: it looks at nothing.");
        v.Required("on", &AlertRule::on, "What it looks for.");
        v("consecutive", &AlertRule::consecutive,
          Doc("failure: so many one after the other.").Between(1, 1000));
        v.Rare("longer_than", &AlertRule::longer_than,
               Doc("late, long: how late, or how long.").Example("5m"));
        v.Rare("factor", &AlertRule::factor,
               "long: times the median of the latest runs of the job that succeeded.");
        v("scope", &AlertRule::scope, "Which jobs and types it is about.");
        v.Rare("webhook", &AlertRule::webhook, "A URL that is told.");
        v("email", &AlertRule::email, Doc("Addresses that are told.").AtMost(20));
        v("remind_every", &AlertRule::remind_every,
          Doc("While it goes on; 0s: never.").Example("5m"));
        v("recovery", &AlertRule::recovery, "Tell when it is over.");
        v.Rare("quiet", &AlertRule::quiet,
               "Hours in which nobody is told; afterwards one notice sums up.");
        if (v.form() == JsonForm::kRecord) {
            v.Key("id", &AlertRule::id);
            v.Key("created_at", &AlertRule::created_at);
        }
    }
};

template <>
struct FieldsOf<PendingNotice> {
    template <class V>
    static void Visit(V& v) {
        v.Key("kind", &PendingNotice::kind);
        v.Key("at", &PendingNotice::at);
        v.Key("ids", &PendingNotice::ids);
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
        v.Key("id", &AlertIncident::id, "Another one whenever it opens.");
        v.Key("rule", &AlertIncident::rule, "Id of the alert.");
        v.Key("subject", &AlertIncident::subject,
              Doc("The job or type that it is about.").Example("job:nightly"));
        v.Key("state", &AlertIncident::state, "Whether it is counted, open or over.");
        v.Key("count", &AlertIncident::count, Doc("How often it was seen.").AtLeast(0));
        v.Rare("opened_at", &AlertIncident::opened_at, "When it began.");
        v.Rare("closed_at", &AlertIncident::closed_at, "When it was over.");
        v.Key("last_at", &AlertIncident::last_at, "When it was last seen.");
        v.Key("message", &AlertIncident::message, "What was found, in words.");
        v.Rare("run_id", &AlertIncident::run_id, "The run in which it was last seen.");
        v.Rare("told_at", &AlertIncident::told_at, "When somebody was last told.");
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

Schema MakeAlert() {
    ObjectSchema alert("An alert as it is stored; a secret as ***.");
    alert.Need("id", Schema::Text().Means("As in the path."));
    alert.AllOf(DescribeAll<AlertRule>(true));
    alert.Need("version", Schema::Int64().AtLeast(1).Means("Grows with every change."));
    alert.Need("created_at", Schema::Time().Means("What happened before this is not looked at."));
    alert.Need("updated_at", Schema::Time().Means("When it was last written."));
    return alert;
}

Schema MakeIncident() {
    ObjectSchema incident(
        "What an alert has found about one job or type, from its beginning until it is over.");
    incident.AllOf(DescribeMembers<AlertIncident>(
        true, [](auto& v) { FieldsOf<AlertIncident>::VisitShown(v); }));
    return incident;
}

constexpr std::string_view kHidden = "***";

template <class T>
Result<T> FromRecord(std::string_view text) {
    return ReadDocument<T>(
        text, JsonForm::kRecord, LimitsOfStoredJson(text),
        [](JsonReader& reader, const Node& node, T& out) { reader.Read(node, out); });
}

}  // namespace

const NamedSchema kAlertDefinitionSchema = kSchemaOf<AlertRule>;
const NamedSchema kAlertSchema{"Alert", &MakeAlert};
const NamedSchema kIncidentSchema{"Incident", &MakeIncident};

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
