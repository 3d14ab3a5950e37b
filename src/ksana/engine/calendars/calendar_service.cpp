#include "ksana/engine/calendars/calendar_service.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ksana/base/text/names.hpp"
#include "ksana/codec/v1/audit_view.hpp"
#include "ksana/codec/v1/definitions.hpp"
#include "ksana/engine/calendars/calendar_users.hpp"
#include "ksana/model/audit_event.hpp"

namespace ksana::engine {
namespace {

// The number of conflicting writes with other nodes after which a change fails.
constexpr int kMaxCalendarTries = 10;
constexpr std::size_t kMostNamed = 5;  // jobs in the message of a refused deletion

std::string KeyOf(const std::string& name) { return std::string(kCalendarPrefix) + name; }

StoredCalendar FromDocument(const model::Document& document) {
    StoredCalendar stored{
        .calendar = {}, .version = document.version, .updated_at = document.updated_at};
    if (auto calendar = codec::CalendarFromJson(document.body)) {
        stored.calendar = *std::move(calendar);
    } else {
        stored.fault =
            fmt::format("\"{}\" cannot be read: {}", document.key, calendar.error().Describe());
    }
    return stored;
}

model::AuditEvent AuditOfCalendar(const std::string& name, std::string_view action, const Actor& by,
                                  const std::vector<std::string>* changed = nullptr) {
    return AuditOf(by, {.action = action,
                        .resource_type = model::audit::kCalendar,
                        .resource_id = name,
                        .tenant = model::AuditEvent{}.tenant,
                        .data = codec::AuditDataToJson({{"request_id", by.request_id}}, changed)});
}

model::AuditEvent Changed(const std::optional<StoredCalendar>& before,
                          const schedule::Calendar& after, const Actor& by) {
    if (!before) return AuditOfCalendar(after.name, model::audit::kCreated, by);
    std::vector<std::string> changed;
    const schedule::Calendar& old = before->calendar;
    if (old.description != after.description) changed.emplace_back("description");
    if (old.exclude != after.exclude) changed.emplace_back("exclude");
    if (old.include != after.include) changed.emplace_back("include");
    if (old.swaps != after.swaps) changed.emplace_back("swaps");
    return AuditOfCalendar(after.name, model::audit::kChanged, by, &changed);
}

}  // namespace

Result<StoredCalendar> CalendarService::Get(const std::string& name) {
    KSANA_TRY(StoredCalendar stored, Find(name));
    if (!stored.fault.empty()) return Error(Code::kDataLoss, stored.fault);
    return stored;
}

// Also returns a calendar that cannot be parsed, with its fault.
Result<StoredCalendar> CalendarService::Find(const std::string& name) {
    const Error none(Code::kNotFound, fmt::format("there is no calendar \"{}\"", name));
    // Does not ask the store for a name that no calendar can have: it would report an invalid key.
    if (!IsIdentifier(name)) return none;
    const auto document = store_.settings().Get(KeyOf(name));
    if (document) return FromDocument(*document);
    return document.error().code == Code::kNotFound ? none : document.error();
}

Result<store::Page<StoredCalendar>> CalendarService::List(store::ListParams params) {
    params.prefix = KeyOf(params.prefix);
    KSANA_TRY(const store::Page<model::Document> found, store_.settings().List(params));
    store::Page<StoredCalendar> page;
    page.next = found.next;
    for (const model::Document& document : found.items) {
        StoredCalendar stored = FromDocument(document);
        if (stored.fault.empty()) page.items.push_back(std::move(stored));
    }
    return page;
}

Result<StoredCalendar> CalendarService::Change(const std::string& name, const Edit& edit,
                                               const Actor& by) {
    const MutexLock lock(changing_);
    for (int tries = 1;; ++tries) {
        std::optional<StoredCalendar> before;
        if (auto found = Find(name)) {
            before = *std::move(found);
        } else if (found.error().code != Code::kNotFound) {
            return found.error();
        }
        KSANA_TRY(schedule::Calendar after, edit(before));
        after.name = name;
        if (auto problems = schedule::ValidateCalendar(after); !problems.empty()) {
            return Error(std::move(problems));
        }
        if (!before && book_.size() >= kMaxCalendars) {
            return Error(Code::kConflict,
                         fmt::format("there are {} calendars already", kMaxCalendars));
        }
        if (before) KSANA_TRY_VOID(AccountForUsers(name));
        auto written = store_.settings().Put({.key = KeyOf(name),
                                              .value = codec::CalendarToJson(after),
                                              .expected = before ? before->version : 0,
                                              .expires_at = {},
                                              .audit = Changed(before, after, by)});
        if (written) {
            KSANA_TRY_VOID(watch_.Refresh());
            return StoredCalendar{.calendar = std::move(after),
                                  .version = written->version,
                                  .updated_at = written->updated_at};
        }
        const Code code = written.error().code;
        const bool again =
            code == Code::kConflict || code == Code::kAlreadyExists || code == Code::kNotFound;
        if (!again || tries >= kMaxCalendarTries) return written.error();
    }
}

// Accounts for due fires with the old rules before the rules change: a fire that was excluded at
// its time is not recorded as missed later.
Result<void> CalendarService::AccountForUsers(const std::string& name) {
    KSANA_TRY_VOID(watch_.Refresh());
    std::string cursor;
    do {
        KSANA_TRY(const CalendarUsers users, FindCalendarUsers(store_, {name}, cursor));
        KSANA_TRY_VOID(PlanCalendarUsers(store_, plans_, users.jobs));
        cursor = users.next;
    } while (!cursor.empty());
    return {};
}

Result<void> CalendarService::RefuseWhileUsed(const std::string& name) {
    std::vector<std::string> named;
    std::size_t count = 0;
    std::string cursor;
    do {
        KSANA_TRY(const CalendarUsers users, FindCalendarUsers(store_, {name}, cursor));
        count += users.jobs.size();
        for (const model::Job& job : users.jobs) {
            if (named.size() < kMostNamed) named.push_back(job.id);
        }
        cursor = users.next;
    } while (!cursor.empty());
    if (count == 0) return {};
    return Error(Code::kConflict, fmt::format("calendar \"{}\" is used by {} job{}: {}{}", name,
                                              count, count == 1 ? "" : "s", fmt::join(named, ", "),
                                              count > named.size() ? ", …" : ""));
}

Result<void> CalendarService::Delete(const std::string& name, const Check& check, const Actor& by) {
    const MutexLock lock(changing_);
    KSANA_TRY(const StoredCalendar stored, Find(name));
    KSANA_TRY_VOID(check(stored));
    KSANA_TRY_VOID(RefuseWhileUsed(name));
    KSANA_TRY_VOID(store_.settings().Delete(KeyOf(name), stored.version,
                                            AuditOfCalendar(name, model::audit::kDeleted, by)));
    return watch_.Refresh();
}

}  // namespace ksana::engine
