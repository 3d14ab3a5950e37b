#include "ksana/insight/explain/audit_lookup.hpp"

#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/json/json_text.hpp"

namespace ksana::insight {
namespace {

constexpr std::size_t kMaxReason = 400;

// The most deletions of one transaction; they all have the same time.
constexpr std::size_t kMaxDeleted = 100;

std::string MemberOf(const std::string& data, std::string_view name) {
    if (data.empty()) return "";
    const auto members = codec::JsonMembers(data);
    if (!members) return "";
    for (const codec::JsonMember& member : *members) {
        if (member.name == name) return member.text;
    }
    return "";
}

Actor ActorOf(const model::AuditEvent& event) {
    const std::string reason = MemberOf(event.data, model::audit::kReason);
    return {.user = Printable(event.user),
            .at = event.at,
            .reason = Printable(Excerpt(reason, kMaxReason))};
}

}  // namespace

Result<std::optional<Actor>> FindActor(store::Store& store, const AuditQuestion& question) {
    store::EventQuery query;
    query.filter.action = question.action;
    query.filter.resource_type = question.resource_type;
    query.filter.resource_id = question.resource_id;
    query.filter.until = question.until;
    query.limit = 1;
    KSANA_TRY(const auto page, store.events().List(query));
    if (page.items.empty()) return std::optional<Actor>();
    return std::optional(ActorOf(page.items.front()));
}

Result<std::optional<Actor>> FindDeleter(store::Store& store, const std::string& job_id,
                                         TimePoint nominal, TimePoint recorded_at) {
    store::EventQuery query;
    query.filter.action = kAuditDeleted;
    query.filter.resource_type = kAuditRun;
    query.filter.from = recorded_at;
    query.filter.until = recorded_at + Duration(1);
    query.limit = kMaxDeleted;
    KSANA_TRY(const auto page, store.events().List(query));
    for (const model::AuditEvent& event : page.items) {
        if (MemberOf(event.data, model::audit::kJobId) == job_id &&
            MemberOf(event.data, model::audit::kNominalAt) == FormatTime(nominal)) {
            return std::optional(ActorOf(event));
        }
    }
    return std::optional<Actor>();
}

}  // namespace ksana::insight
