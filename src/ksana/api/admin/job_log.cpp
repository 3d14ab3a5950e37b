#include "ksana/api/admin/job_log.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "ksana/api/edge/query_reader.hpp"
#include "ksana/codec/dialects/admin_log.hpp"
#include "ksana/engine/services/run_service.hpp"

namespace ksana::api {
namespace {

using model::Run;
using model::RunTrigger;

// Runs read at once: a run may take a megabyte.
constexpr std::size_t kLogRowsAtOnce = 100;
constexpr std::size_t kMaxEpochMs = 253'402'300'799'999;  // the end of the year 9999
constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();

std::optional<TimePoint> ReadEpochMs(QueryReader& reader, std::string_view name) {
    const std::size_t number = reader.Number(name, 0, kMaxEpochMs, kAbsent);
    if (number == kAbsent) return std::nullopt;
    return TimePoint(std::chrono::milliseconds(number));
}

bool IsInLog(const Run& run) {
    return model::IsFinal(run.status.state) &&
           std::ranges::find(kTriggersOfJobs, run.trigger) != kTriggersOfJobs.end();
}

// Returns the filters whose runs, together, are those of the filter that belong to jobs.
std::vector<store::RunFilter> FiltersOfJobs(const store::RunFilter& filter) {
    if (!filter.job_id.empty()) return {filter};
    std::vector<store::RunFilter> filters;
    for (const RunTrigger trigger : kTriggersOfJobs) {
        filters.push_back(filter);
        filters.back().trigger = trigger;
    }
    return filters;
}

store::RunFilter FilterOf(const LogQuery& query) {
    store::RunFilter filter;
    filter.states = query.states;
    filter.job_id = query.job_id;
    filter.finished_from = query.from;
    filter.finished_until = query.until;
    return filter;
}

// Where a run stands in the order of the log: when it ended, and its id.
using LogPlace = std::pair<std::int64_t, Uuid>;

LogPlace LogPlaceOf(const Run& run) {
    return {run.status.finished_at.value_or(TimePoint{}).time_since_epoch().count(), run.id};
}

// Final runs of one filter, the latest end first, read a page at a time. Lives in one call.
class LatestRuns {
  public:
    LatestRuns(store::Store& store, store::RunFilter filter, const LogBounds& bounds)
        : store_(store), bounds_(bounds) {
        query_.filter = std::move(filter);
        query_.sort = store::RunSort::kFinished;
        query_.limit = kLogRowsAtOnce;
        query_.look = bounds.examined;
    }

    // Returns the next run that has been read, or null.
    Run* Next() { return at_ < page_.items.size() ? &page_.items[at_] : nullptr; }
    void Take() { ++at_; }

    // Returns whether a run that has not been read may come before `place`. None: at any place.
    bool MayHide(const std::optional<LogPlace>& place) const {
        return at_ == page_.items.size() && !over_ && (!place || !read_to_ || *place < *read_to_);
    }

    Result<void> ReadOn() {
        if (pages_cut_ == bounds_.cut_pages) {
            return Error(std::vector<Problem>{
                {"/query/page",
                 fmt::format("lies behind about {} other runs: name a jobId, or an endTime",
                             bounds_.cut_pages * bounds_.examined),
                 "out_of_range",
                 {}}});
        }
        KSANA_TRY(page_, store_.runs().List(query_));
        at_ = 0;
        pages_cut_ += page_.ended_early ? 1 : 0;
        query_.cursor = page_.next;
        over_ = page_.next.empty();
        if (over_) return {};
        KSANA_TRY(const auto position, store::ParseCursor(kOrder, page_.next));
        const auto id = position ? Uuid::Parse(position->id) : std::nullopt;
        std::int64_t time = 0;
        if (!id || !ParseWhole(position->value, time)) {
            return Error(Code::kInternal, "a cursor of the store has another form");
        }
        read_to_ = {time, *id};
        return {};
    }

  private:
    static constexpr std::string_view kOrder = "-finished_at";

    static bool ParseWhole(std::string_view text, std::int64_t& number) {
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
        return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
    }

    store::Store& store_;
    const LogBounds bounds_;
    store::RunQuery query_;
    store::Page<Run> page_;
    std::size_t at_ = 0;
    std::size_t pages_cut_ = 0;        // pages that ended early
    std::optional<LogPlace> read_to_;  // every run before this place has been read
    bool over_ = false;                // every run has been read
};

// Returns the source whose next run ended last, null if there are no more runs. Reads on where an
// unread run may have ended later.
Result<LatestRuns*> LatestOf(std::vector<LatestRuns>& sources) {
    for (;;) {
        LatestRuns* latest = nullptr;
        std::optional<LogPlace> best;
        for (LatestRuns& source : sources) {
            const Run* const run = source.Next();
            if (run == nullptr || (best && LogPlaceOf(*run) < *best)) continue;
            latest = &source;
            best = LogPlaceOf(*run);
        }
        const auto hides = [&](const LatestRuns& source) { return source.MayHide(best); };
        const auto unread = std::ranges::find_if(sources, hides);
        if (unread == sources.end()) return latest;
        KSANA_TRY_VOID(unread->ReadOn());
    }
}

Result<std::vector<Run>> ReadRuns(store::Store& store, const LogQuery& query,
                                  const LogBounds& bounds) {
    std::vector<LatestRuns> sources;
    for (store::RunFilter& filter : FiltersOfJobs(FilterOf(query))) {
        sources.emplace_back(store, std::move(filter), bounds);
    }
    std::vector<Run> runs;
    std::size_t before = (query.page - 1) * query.size;
    while (runs.size() < query.size) {
        KSANA_TRY(LatestRuns* const source, LatestOf(sources));
        if (source == nullptr) break;
        if (before == 0) {
            runs.push_back(std::move(*source->Next()));
        } else {
            --before;
        }
        source->Take();
    }
    return runs;
}

}  // namespace

Result<LogQuery> LogQueryOf(const http_server::Request& request) {
    QueryReader reader(request);
    LogQuery query;
    query.page = reader.Number("page", 1, std::numeric_limits<std::int32_t>::max(), 1);
    query.size = reader.Number("size", 1, kMaxLogPage, kLogPageSize);
    if (query.page * query.size > kLogDepth) {
        reader.Fault("page",
                     fmt::format("goes beyond the first {} entries: name a jobId, a startTime or "
                                 "an endTime",
                                 kLogDepth),
                     "out_of_range");
    }
    query.job_id = reader.Text("jobId");
    const auto most = static_cast<std::size_t>(codec::AdminLogStatus::kNotRun);
    const std::size_t status = reader.Number("status", 0, most, kAbsent);
    if (status != kAbsent) {
        query.states = codec::StatesOf(static_cast<codec::AdminLogStatus>(status));
    }
    query.from = ReadEpochMs(reader, "startTime");
    query.until = ReadEpochMs(reader, "endTime");
    KSANA_TRY_VOID(reader.Finish());
    return query;
}

Result<CleanQuery> CleanQueryOf(const http_server::Request& request) {
    QueryReader reader(request);
    CleanQuery query;
    query.job_id = reader.Text("jobId");
    query.before = ReadEpochMs(reader, "before");
    KSANA_TRY_VOID(reader.Finish());
    return query;
}

Result<LogPage> JobLog::Read(const LogQuery& query) const {
    LogPage page;
    KSANA_TRY(page.runs, ReadRuns(store_, query, bounds_));
    const auto seen = static_cast<std::int64_t>((query.page - 1) * query.size + page.runs.size());
    const bool last = page.runs.size() < query.size && (query.page == 1 || !page.runs.empty());
    if (last) {
        page.total = seen;
        return page;
    }
    const store::CountBounds bounds{.most = kLogDepth + 1, .look = bounds_.examined};
    for (const store::RunFilter& filter : FiltersOfJobs(FilterOf(query))) {
        KSANA_TRY(const store::Counted counted, store_.runs().CountWithin(filter, bounds));
        page.total += counted.count;
        page.exact = page.exact && counted.complete;
    }
    // A count that ended early may be less than what the page itself shows.
    if (!page.runs.empty()) page.total = std::max(page.total, seen);
    constexpr auto kMost = static_cast<std::int64_t>(kLogDepth);
    page.exact = page.exact && page.total <= kMost;
    page.total = std::min(page.total, kMost);
    return page;
}

Result<Run> JobLog::Get(const std::string& id) const {
    Error none(Code::kNotFound, fmt::format("there is no log entry \"{}\"", id));
    const auto uuid = Uuid::Parse(id);
    if (!uuid) return none;
    auto history = store_.runs().Get(*uuid);
    if (!history) return history.error().code == Code::kNotFound ? none : history.error();
    if (!IsInLog(history->run)) return none;
    return std::move(history->run);
}

Result<Cleaned> JobLog::Clean(const CleanQuery& query, const engine::Actor& by) const {
    LogQuery all;
    all.job_id = query.job_id;
    all.until = query.before;
    Cleaned cleaned;
    for (const store::RunFilter& filter : FiltersOfJobs(FilterOf(all))) {
        KSANA_TRY_VOID(CleanOne(filter, by, cleaned));
        if (cleaned.more) break;
    }
    return cleaned;
}

// Has no bound on examined rows: a call that stopped before the first match would never get past
// that place, however often it is repeated.
Result<void> JobLog::CleanOne(const store::RunFilter& filter, const engine::Actor& by,
                              Cleaned& cleaned) const {
    store::RunQuery query;
    query.filter = filter;
    query.sort = store::RunSort::kFinished;
    query.descending = false;
    query.limit = kLogRowsAtOnce;
    do {
        KSANA_TRY(const store::Page<Run> page, store_.runs().List(query));
        for (const Run& run : page.items) {
            if (run.job_id.empty()) continue;  // a task that was retried by hand
            if (cleaned.runs == kMostCleaned) {
                cleaned.more = true;
                return {};
            }
            const auto deleted = runs_.Delete(run.id, by);
            if (deleted) {
                ++cleaned.runs;
            } else if (deleted.error().code != Code::kNotFound) {  // else: deleted meanwhile
                return deleted.error();
            }
        }
        query.cursor = page.next;
    } while (!query.cursor.empty());
    return {};
}

}  // namespace ksana::api
