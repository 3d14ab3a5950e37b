#include "ksana/engine/actor.hpp"

#include "ksana/base/text/utf8.hpp"

namespace ksana::engine {
namespace {

constexpr std::size_t kMaxText = 1'000;

std::string Short(const std::string& text) { return Excerpt(Printable(text), kMaxText); }

}  // namespace

model::AuditEvent AuditOf(const Actor& by, AuditedAction deed) {
    model::AuditEvent event;
    event.tenant = std::move(deed.tenant);
    event.action = deed.action;
    event.user = Short(by.user);
    event.resource_type = deed.resource_type;
    event.resource_id = std::move(deed.resource_id);
    event.data = std::move(deed.data);
    event.client_ip = Short(by.client_ip);
    event.method = Short(by.method);
    return event;
}

}  // namespace ksana::engine
