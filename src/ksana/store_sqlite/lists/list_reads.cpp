#include <algorithm>
#include <compare>
#include <tuple>
#include <utility>

#include "ksana/store_kit/lists/lists.hpp"
#include "ksana/store_sqlite/lists/list_sql.hpp"
#include "ksana/store_sqlite/lists/reads.hpp"
#include "ksana/store_sqlite/rows/job_rows.hpp"
#include "ksana/store_sqlite/rows/run_rows.hpp"

namespace ksana::store_sqlite::reads {

using model::Job;
using model::Run;
using store_kit::JobList;
using store_kit::kNoTime;
using store_kit::RunList;

namespace {

std::int64_t Micros(const std::optional<TimePoint>& time) {
    return time ? time->time_since_epoch().count() : kNoTime;
}

// Maximum number of runs to sort for a page; it takes some milliseconds.
constexpr std::int64_t kMaxSorted = 10'000;

// Counts the rows that a walk reads, up to a limit. Lives for one call.
class Looks {
  public:
    explicit Looks(std::size_t most) : most_(most) {}
    bool Left() const { return most_ == 0 || count_ < most_; }
    void Count() { ++count_; }

  private:
    std::size_t most_;  // 0: no bound
    std::size_t count_ = 0;
};

// Calls take(run) for the runs of the part that belong to the list, until it returns false. Returns
// the place of the last run that was read if the walk ended because `looks` was used up; otherwise
// none.
template <class F>
Result<std::optional<RunList::After>> WalkRuns(ReadSession& session, const ListSql& part,
                                               const RunList& list, Looks& looks, const F& take) {
    Query numbers = session.connection.Dynamic(part.text);
    part.BindTo(numbers);
    Query rows = session.connection.Prepared(Sql::kLoadRow);
    std::optional<RunList::After> place;
    for (;;) {
        KSANA_TRY(const bool more, numbers.Next());
        if (!more) return std::optional<RunList::After>();
        if (!looks.Left()) return place;
        looks.Count();
        KSANA_TRY(const bool row, rows.Again().Int(numbers.Int()).Next());
        if (!row) continue;
        Run run;
        KSANA_TRY_VOID(ReadInto(session, rows, run));
        place = store_kit::PlaceOf(run, list.sort);
        if (store_kit::Matches(list, run) && !take(std::move(run))) {
            return std::optional<RunList::After>();
        }
    }
}

// Returns whether more than kMaxSorted rows would have to be sorted.
Result<bool> IsTooMuchToSort(ReadSession& session, const RunList& list) {
    std::int64_t count = 0;
    for (const RunListPart& part : RunListSql(list, ListPurpose::kCount)) {
        if (!part.sorts) continue;
        Query query = session.connection.Dynamic(part.sql.text);
        part.sql.BindTo(query);
        for (;;) {
            KSANA_TRY(const bool row, query.Next());
            if (!row) break;
            if (++count > kMaxSorted) return true;
        }
    }
    return false;
}

// Returns the parts of a list. A list by id with too many rows to sort walks along all ids instead:
// matches that frequent come soon.
Result<std::vector<ListSql>> PartsOf(ReadSession& session, const RunList& list) {
    std::vector<ListSql> parts;
    if (list.sort == store::RunSort::kId) {
        KSANA_TRY(const bool too_much, IsTooMuchToSort(session, list));
        if (too_much) {
            parts.push_back(RunsByIdSql(list));
            return parts;
        }
    }
    for (RunListPart& part : RunListSql(list, ListPurpose::kRows)) {
        parts.push_back(std::move(part.sql));
    }
    return parts;
}

// Merges the parts of a list. Each part is sorted and has at most `limit` items.
template <class T, class KeyOf>
std::vector<T> Merge(std::vector<std::vector<T>> parts, std::size_t limit, bool descending,
                     const KeyOf& key_of) {
    if (parts.empty()) return {};
    std::vector<T> all = std::move(parts.front());
    for (std::size_t i = 1; i < parts.size(); ++i) {
        std::ranges::move(parts[i], std::back_inserter(all));
    }
    if (parts.size() > 1) {
        std::ranges::sort(all, [&](const T& a, const T& b) {
            return descending ? key_of(b) < key_of(a) : key_of(a) < key_of(b);
        });
    }
    if (all.size() > limit) all.erase(all.begin() + static_cast<std::ptrdiff_t>(limit), all.end());
    return all;
}

// Returns whether `a` comes before `b` in the list.
bool IsBefore(const RunList& list, const RunList::After& a, const RunList::After& b) {
    const auto first = std::pair(a.time, a.id);
    const auto second = std::pair(b.time, b.id);
    return list.descending ? second < first : first < second;
}

bool IsBefore(const JobList& list, const JobList::After& a, const JobList::After& b) {
    const auto key = [](const JobList::After& place) {
        return std::tie(place.name, place.time, place.id);
    };
    return list.descending ? key(b) < key(a) : key(a) < key(b);
}

// Sets `first` to `other` if that comes earlier in the list.
template <class List>
void TakeFirst(const List& list, std::optional<typename List::After>& first,
               const std::optional<typename List::After>& other) {
    if (other && (!first || IsBefore(list, *other, *first))) first = other;
}

// Counts the rows of a part, up to `most`.
Result<std::int64_t> CountNumbers(ReadSession& session, const ListSql& part, std::int64_t most) {
    Query query = session.connection.Dynamic(part.text);
    part.BindTo(query);
    for (std::int64_t count = 0;; ++count) {
        KSANA_TRY(const bool row, query.Next());
        if (!row || count == most) return count;
    }
}

// Returns the place where list.look rows of the index that the list follows end; none if there are
// fewer.
Result<std::optional<JobList::After>> HorizonOf(ReadSession& session, const JobList& list) {
    std::optional<JobList::After> horizon;
    for (const ListSql& part : JobHorizonSql(list)) {
        Query query = session.connection.Dynamic(part.text);
        part.BindTo(query);
        KSANA_TRY(const bool row, query.Next());
        if (!row) continue;
        JobList::After place;
        place.name = query.Text();
        place.time = query.Int();
        place.id = query.Text();
        TakeFirst(list, horizon, std::optional(std::move(place)));
    }
    return horizon;
}

// Returns whether an index of another order finds at most list.look jobs for the filter: these are
// then sorted.
Result<bool> AreFew(ReadSession& session, const JobList& list) {
    if (list.look == 0) return false;
    const auto most = static_cast<std::int64_t>(list.look);
    const ListSql sql = FewJobsSql(list, most + 1);
    if (sql.text.empty()) return false;
    KSANA_TRY(const std::int64_t count, CountNumbers(session, sql, most + 1));
    return count <= most;
}

// Returns the page if an index of another order finds at most list.look runs for the filter;
// otherwise none.
Result<std::optional<std::vector<Run>>> FewRuns(ReadSession& session, const RunList& list) {
    std::optional<std::vector<Run>> found;
    if (list.look == 0 || list.sort == store::RunSort::kId || !AsksForNarrow(list)) return found;
    RunList all = list;
    all.sort = store::RunSort::kId;
    all.after.reset();
    std::vector<ListSql> ways;
    auto left = static_cast<std::int64_t>(list.look);
    for (RunListPart& part : RunListSql(all, ListPurpose::kCount)) {
        KSANA_TRY(const std::int64_t count, CountNumbers(session, part.sql, left + 1));
        left -= count;
        if (left < 0) return found;
        ways.push_back(std::move(part.sql));
    }
    std::vector<Run>& runs = found.emplace();
    Looks looks(0);
    for (const ListSql& way : ways) {
        KSANA_TRY_VOID(WalkRuns(session, way, all, looks, [&](Run&& run) {
            const RunList::After place = store_kit::PlaceOf(run, list.sort);
            if (!list.after || IsBefore(list, *list.after, place)) runs.push_back(std::move(run));
            return true;
        }));
    }
    std::ranges::sort(runs, [&](const Run& a, const Run& b) {
        return IsBefore(list, store_kit::PlaceOf(a, list.sort), store_kit::PlaceOf(b, list.sort));
    });
    if (runs.size() > list.limit) {
        runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(list.limit), runs.end());
    }
    return found;
}

}  // namespace

Result<store_kit::ListedRuns> ListRuns(ReadSession& session, const RunList& list) {
    store_kit::ListedRuns listed;
    KSANA_TRY(auto few, FewRuns(session, list));
    if (few) {
        listed.rows = *std::move(few);
        return listed;
    }
    std::vector<std::vector<Run>> parts;
    KSANA_TRY(const std::vector<ListSql> ways, PartsOf(session, list));
    // Each part may read its share of list.look rows.
    const std::size_t parts_count = std::max<std::size_t>(ways.size(), 1);
    const std::size_t share = (list.look + parts_count - 1) / parts_count;
    for (const ListSql& part : ways) {
        std::vector<Run>& runs = parts.emplace_back();
        Looks looks(share);
        KSANA_TRY(const auto scanned_to, WalkRuns(session, part, list, looks, [&](Run&& run) {
                      runs.push_back(std::move(run));
                      return runs.size() < list.limit;
                  }));
        TakeFirst(list, listed.scanned_to, scanned_to);
    }
    listed.rows = Merge(std::move(parts), list.limit, list.descending, [&list](const Run& run) {
        return std::pair(store_kit::SortTime(run, list.sort), run.id);
    });
    // Runs of other parts beyond that place belong to a later page.
    while (listed.scanned_to && !listed.rows.empty() &&
           IsBefore(list, *listed.scanned_to, store_kit::PlaceOf(listed.rows.back(), list.sort))) {
        listed.rows.pop_back();
    }
    return listed;
}

Result<store::Counted> CountRuns(ReadSession& session, const RunList& list, std::int64_t most) {
    store::Counted counted;
    Looks looks(list.look);
    for (const RunListPart& part : RunListSql(list, ListPurpose::kCount)) {
        if (counted.count >= most) break;
        if (part.exact) {
            KSANA_TRY(const std::int64_t more,
                      CountNumbers(session, part.sql, most - counted.count));
            counted.count += more;
            continue;
        }
        KSANA_TRY(const auto scanned_to,
                  WalkRuns(session, part.sql, list, looks,
                           [&](const Run& /*run*/) { return ++counted.count < most; }));
        if (scanned_to || !looks.Left()) counted.complete = false;
    }
    return counted;
}

// There are several parts only when sorted by the next fire.
Result<store_kit::ListedJobs> ListJobs(ReadSession& session, const JobList& list) {
    store_kit::ListedJobs listed;
    KSANA_TRY(const bool few, AreFew(session, list));
    if (few) {
        const ListSql sql = SortedJobsSql(list);
        Query query = session.connection.Dynamic(sql.text);
        sql.BindTo(query);
        KSANA_TRY(listed.rows, ReadJobs(query));
        return listed;
    }
    KSANA_TRY(listed.scanned_to, HorizonOf(session, list));
    std::vector<std::vector<Job>> parts;
    const auto limit = static_cast<std::int64_t>(list.limit);
    for (const ListSql& part : JobListSql(list, ListPurpose::kRows, limit, listed.scanned_to)) {
        Query query = session.connection.Dynamic(part.text);
        part.BindTo(query);
        KSANA_TRY(std::vector<Job> jobs, ReadJobs(query));
        parts.push_back(std::move(jobs));
    }
    listed.rows = Merge(std::move(parts), list.limit, list.descending, [](const Job& job) {
        return std::pair(Micros(job.state.next_run_at), std::string_view(job.id));
    });
    return listed;
}

Result<store::Counted> CountJobs(ReadSession& session, const JobList& list, std::int64_t most) {
    store::Counted counted;
    KSANA_TRY(const auto horizon, HorizonOf(session, list));
    for (const ListSql& part : JobListSql(list, ListPurpose::kCount, most, horizon)) {
        Query query = session.connection.Dynamic(part.text);
        part.BindTo(query);
        KSANA_TRY(const bool row, query.Next());
        if (row) counted.count += query.Int();
        if (counted.count >= most) return store::Counted{.count = most};
    }
    counted.complete = !horizon;
    return counted;
}

}  // namespace ksana::store_sqlite::reads
