#include "ksana/insight/audit_words.hpp"

#include "ksana/base/utf8.hpp"
#include "ksana/codec/json_text.hpp"

namespace ksana::insight {
namespace {

constexpr std::size_t kMaxReason = 400;

std::string ReasonOf(const std::string& data) {
    if (data.empty()) return "";
    const auto members = codec::JsonMembers(data);
    if (!members) return "";
    for (const codec::JsonMember& member : *members) {
        if (member.name == "reason") return Printable(Excerpt(member.text, kMaxReason));
    }
    return "";
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
    const model::AuditEvent& event = page.items.front();
    return std::optional(
        Actor{.user = Printable(event.user), .at = event.at, .reason = ReasonOf(event.data)});
}

}  // namespace ksana::insight
