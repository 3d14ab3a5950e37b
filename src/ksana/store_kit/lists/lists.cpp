#include "ksana/store_kit/lists/lists.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "ksana/store/text_search.hpp"

namespace ksana::store_kit {
namespace {

using store::JobSort;
using store::RunSort;

Error BadCursor() {
    return Error(std::vector<Problem>{{"/cursor", "is not a cursor of this list and order"}});
}

Result<std::int64_t> ParseNumber(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc() || end != text.data() + text.size()) return BadCursor();
    return number;
}

std::int64_t Count(const std::optional<TimePoint>& time) {
    return time ? time->time_since_epoch().count() : kNoTime;
}

// Returns the name of the order that a cursor belongs to.
template <class Sort>
std::string OrderName(Sort sort, bool descending) {
    return fmt::format("{}{}", descending ? "-" : "", model::NameOf(sort));
}

// The next page continues after the last item of a full page, or where a search ended early.
template <class Query, class Found, class PositionOf>
auto FilledPage(const Query& query, Found found, const PositionOf& position_of) {
    store::Page<typename decltype(found.rows)::value_type> page;
    const std::string order = OrderName(query.sort, query.descending);
    page.items = std::move(found.rows);
    if (page.items.size() == query.limit) {
        page.next = store::MakeCursor(order, position_of(PlaceOf(page.items.back(), query.sort)));
    } else if (found.scanned_to) {
        page.next = store::MakeCursor(order, position_of(*found.scanned_to));
        page.ended_early = true;
    }
    return page;
}

}  // namespace

Result<std::size_t> CheckLimit(std::size_t limit) {
    if (limit >= 1 && limit <= store::kMaxPageSize) return limit;
    return Error(std::vector<Problem>{
        {"/limit", fmt::format("must be between 1 and {}", store::kMaxPageSize)}});
}

std::int64_t SortTime(const model::Run& run, RunSort sort) {
    switch (sort) {
        case RunSort::kId:
            return 0;
        case RunSort::kReady:
            return run.status.ready_at.time_since_epoch().count();
        case RunSort::kFinished:
            return Count(run.status.finished_at);
    }
    return 0;
}

std::int64_t SortTime(const model::Job& job, JobSort sort) {
    switch (sort) {
        case JobSort::kId:
        case JobSort::kName:
            return 0;
        case JobSort::kNextRun:
            return Count(job.state.next_run_at);
        case JobSort::kLastRun:
            return Count(job.state.last_run_at);
        case JobSort::kCreated:
            return job.state.created_at.time_since_epoch().count();
        case JobSort::kUpdated:
            return job.state.updated_at.time_since_epoch().count();
    }
    return 0;
}

Result<RunList> ListOf(const store::RunQuery& query) {
    RunList list{.filter = query.filter,
                 .words = store::SearchWords(query.filter.text),
                 .sort = query.sort,
                 .descending = query.descending,
                 .look = query.look};
    KSANA_TRY(list.limit, CheckLimit(query.limit));
    if (query.sort == RunSort::kFinished) list.filter.states &= ~model::kUnfinishedStates;
    if (query.sort == RunSort::kReady) list.filter.states &= model::kUnfinishedStates;
    KSANA_TRY(const auto position,
              store::ParseCursor(OrderName(query.sort, query.descending), query.cursor));
    if (!position) return list;
    const auto id = Uuid::Parse(position->id);
    if (!id) return BadCursor();
    KSANA_TRY(const std::int64_t time, ParseNumber(position->value));
    list.after = {time, *id};
    return list;
}

RunList::After PlaceOf(const model::Run& run, RunSort sort) {
    return {SortTime(run, sort), run.id};
}

store::Page<model::Run> PageOf(const store::RunQuery& query, ListedRuns listed) {
    return FilledPage(query, std::move(listed), [&](const RunList::After& place) {
        return store::Position{std::to_string(place.time), place.id.ToString()};
    });
}

Result<JobList> ListOf(const store::JobQuery& query) {
    JobList list{.filter = query.filter,
                 .words = store::SearchWords(query.filter.text),
                 .sort = query.sort,
                 .descending = query.descending,
                 .look = query.look};
    KSANA_TRY(list.limit, CheckLimit(query.limit));
    KSANA_TRY(const auto position,
              store::ParseCursor(OrderName(query.sort, query.descending), query.cursor));
    if (!position) return list;
    list.after.emplace();
    list.after->id = position->id;
    if (query.sort == JobSort::kName) {
        list.after->name = position->value;
    } else {
        KSANA_TRY(list.after->time, ParseNumber(position->value));
    }
    return list;
}

JobList::After PlaceOf(const model::Job& job, JobSort sort) {
    return {
        .name = sort == JobSort::kName ? job.name : "", .time = SortTime(job, sort), .id = job.id};
}

store::Page<model::Job> PageOf(const store::JobQuery& query, ListedJobs listed) {
    return FilledPage(query, std::move(listed), [&](const JobList::After& place) {
        return store::Position{
            query.sort == JobSort::kName ? place.name : std::to_string(place.time), place.id};
    });
}

Result<std::int64_t> ParseSeq(std::string_view sort, std::string_view cursor) {
    KSANA_TRY(const auto position, store::ParseCursor(sort, cursor));
    if (!position) return 0;
    return ParseNumber(position->id);
}

std::string SeqCursor(std::string_view sort, std::int64_t seq) {
    return store::MakeCursor(sort, {"", std::to_string(seq)});
}

namespace {

// An empty value matches everything.
bool Is(const std::string& wanted, const std::string& value) {
    return wanted.empty() || wanted == value;
}

template <class T>
bool Is(const std::optional<T>& wanted, const T& value) {
    return !wanted || *wanted == value;
}

bool FinishedWithin(const store::RunFilter& filter, const model::Run& run) {
    const auto& finished = run.status.finished_at;
    if (filter.finished_from && (!finished || *finished < *filter.finished_from)) return false;
    return !filter.finished_until || (finished && *finished < *filter.finished_until);
}

bool HasAll(const TextMap& wanted, const TextMap& there) {
    return std::ranges::all_of(wanted, [&](const auto& pair) {
        const auto found = there.find(pair.first);
        return found != there.end() && found->second == pair.second;
    });
}

}  // namespace

bool Matches(const RunList& list, const model::Run& run) {
    const store::RunFilter& filter = list.filter;
    return (filter.states & model::SetOf(run.status.state)) != 0 && Is(filter.tenant, run.tenant) &&
           Is(filter.job_id, run.job_id) && Is(filter.type, run.type) &&
           Is(filter.category, run.category) && Is(filter.creator, run.creator) &&
           Is(filter.owner, run.status.owner) && Is(filter.kind, run.kind) &&
           Is(filter.trigger, run.trigger) && (!filter.parent || filter.parent == run.parent) &&
           FinishedWithin(filter, run) &&
           store::ContainsWords(list.words, {run.type, run.category, run.creator, run.job_id,
                                             run.status.last_error});
}

bool Matches(const JobList& list, const model::Job& job) {
    const store::JobFilter& filter = list.filter;
    const std::string type = store::RunTypeOf(job);
    return Is(filter.tenant, job.tenant) && Is(filter.name, job.name) &&
           Is(filter.group, job.group) && Is(filter.owner, job.owner) &&
           Is(filter.enabled, job.enabled) && Is(filter.kind, model::KindOf(job.action)) &&
           Is(filter.type, type) &&
           (!filter.last_state || filter.last_state == job.state.last_state) &&
           Is(filter.calendar, job.schedule.calendar) && HasAll(filter.labels, job.labels) &&
           store::ContainsWords(list.words,
                                {job.id, job.name, job.owner, type, job.state.last_error});
}

bool Matches(const EventList& list, const model::AuditEvent& event) {
    const store::EventFilter& filter = list.filter;
    return Is(filter.tenant, event.tenant) && Is(filter.user, event.user) &&
           Is(filter.action, event.action) && Is(filter.resource_type, event.resource_type) &&
           Is(filter.resource_id, event.resource_id) &&
           (!filter.from || event.at >= *filter.from) &&
           (!filter.until || event.at < *filter.until);
}

}  // namespace ksana::store_kit
