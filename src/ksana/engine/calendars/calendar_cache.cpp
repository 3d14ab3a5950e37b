#include "ksana/engine/calendars/calendar_cache.hpp"

#include "ksana/base/log/log.hpp"
#include "ksana/codec/v1/definitions.hpp"

namespace ksana::engine {

// A calendar that cannot be parsed has no index, as if it did not exist: its jobs are postponed,
// and the log says why.
CalendarCache::Entry CalendarCache::Compile(const model::Document& document) {
    Entry entry{.version = document.version,
                .updated_at = document.updated_at,
                .rules = nullptr,
                .index = nullptr};
    auto calendar = codec::CalendarFromJson(document.body);
    if (calendar) {
        if (auto problems = schedule::ValidateCalendar(*calendar); !problems.empty()) {
            calendar = Error(std::move(problems));
        }
    }
    if (!calendar) {
        Log(LogLevel::kError, "a stored calendar cannot be used",
            {{"key", document.key}, {"error", calendar.error().Describe()}});
        return entry;
    }
    entry.index = std::make_shared<const schedule::CalendarIndex>(*calendar);
    entry.rules = std::make_shared<const schedule::Calendar>(*std::move(calendar));
    return entry;
}

Result<CalendarCache::Entries> CalendarCache::Read() const {
    const auto known = Known();
    Entries entries;
    store::ListParams params{
        .prefix = std::string(kCalendarPrefix), .limit = store::kMaxPageSize, .cursor = {}};
    do {
        KSANA_TRY(const store::Page<model::Document> page, store_.settings().List(params));
        for (const model::Document& document : page.items) {
            std::string name = document.key.substr(kCalendarPrefix.size());
            const auto before = known->find(name);
            const bool same = before != known->end() &&
                              before->second.version == document.version &&
                              before->second.updated_at == document.updated_at;
            entries.emplace(std::move(name), same ? before->second : Compile(document));
        }
        params.cursor = page.next;
    } while (!params.cursor.empty());
    return entries;
}

Result<std::vector<std::string>> CalendarCache::Refresh() {
    const MutexLock refreshing(refreshing_);
    const auto before = Known();
    KSANA_TRY(Entries read, Read());
    std::vector<std::string> changed;
    for (auto& [name, entry] : read) {
        const auto old = before->find(name);
        if (old == before->end()) {
            changed.push_back(name);
        } else if (old->second.rules && entry.rules && *old->second.rules == *entry.rules) {
            entry.index = old->second.index;  // unchanged rules keep their index
        } else {
            changed.push_back(name);
        }
    }
    for (const auto& [name, entry] : *before) {
        if (!read.contains(name)) changed.push_back(name);
    }
    const MutexLock lock(mutex_);
    entries_ = std::make_shared<const Entries>(std::move(read));
    return changed;
}

std::shared_ptr<const CalendarCache::Entries> CalendarCache::Known() const {
    const MutexLock lock(mutex_);
    return entries_;
}

std::shared_ptr<const schedule::CalendarIndex> CalendarCache::Find(std::string_view name) const {
    const auto entries = Known();
    const auto found = entries->find(name);
    return found == entries->end() ? nullptr : found->second.index;
}

std::optional<schedule::Calendar> CalendarCache::Rules(std::string_view name) const {
    const auto entries = Known();
    const auto found = entries->find(name);
    if (found == entries->end() || !found->second.rules) return std::nullopt;
    return *found->second.rules;
}

std::size_t CalendarCache::size() const { return Known()->size(); }

}  // namespace ksana::engine
