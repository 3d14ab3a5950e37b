#include <algorithm>
#include <compare>
#include <utility>

#include "ksana/store_kit/lists.hpp"
#include "ksana/store_kit/matches.hpp"
#include "ksana/store_sqlite/job_rows.hpp"
#include "ksana/store_sqlite/list_sql.hpp"
#include "ksana/store_sqlite/reads.hpp"
#include "ksana/store_sqlite/run_rows.hpp"

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

// Up to so many runs are sorted for a page; it takes some milliseconds.
constexpr std::int64_t kMaxSorted = 10'000;

// Calls take(run) for what belongs to the list, until it says false.
template <class F>
Result<void> WalkRuns(Session& session, const ListSql& part, const RunList& list, const F& take) {
    Query numbers = session.connection.Dynamic(part.text);
    part.BindTo(numbers);
    Query rows = session.connection.Prepared(Sql::kLoadRow);
    for (;;) {
        KSANA_TRY(const bool more, numbers.Next());
        if (!more) return {};
        KSANA_TRY(const bool row, rows.Again().Int(numbers.Int()).Next());
        if (!row) continue;
        Run run;
        KSANA_TRY_VOID(ReadInto(session, rows, run));
        if (store_kit::Matches(list, run) && !take(std::move(run))) return {};
    }
}

// Whether more than kMaxSorted rows would have to be sorted.
Result<bool> IsTooMuchToSort(Session& session, const RunList& list) {
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

// The parts of a list. A large one by id goes along all ids instead: what is so frequent comes
// soon.
Result<std::vector<ListSql>> PartsOf(Session& session, const RunList& list) {
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

// Puts the parts of a list together: each is sorted, and no longer than the list may be.
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

Result<std::int64_t> CountParts(Session& session, const std::vector<ListSql>& parts,
                                std::int64_t most) {
    std::int64_t count = 0;
    for (const ListSql& part : parts) {
        Query query = session.connection.Dynamic(part.text);
        part.BindTo(query);
        KSANA_TRY(const bool row, query.Next());
        if (row) count += query.Int();
        if (count >= most) return most;
    }
    return count;
}

}  // namespace

Result<std::vector<Run>> ListRuns(Session& session, const RunList& list) {
    std::vector<std::vector<Run>> parts;
    KSANA_TRY(const std::vector<ListSql> ways, PartsOf(session, list));
    for (const ListSql& part : ways) {
        std::vector<Run>& runs = parts.emplace_back();
        KSANA_TRY_VOID(WalkRuns(session, part, list, [&](Run&& run) {
            runs.push_back(std::move(run));
            return runs.size() < list.limit;
        }));
    }
    return Merge(std::move(parts), list.limit, list.descending, [&list](const Run& run) {
        return std::pair(store_kit::SortTime(run, list.sort), run.id);
    });
}

Result<std::int64_t> CountRuns(Session& session, const RunList& list, std::int64_t most) {
    std::int64_t count = 0;
    for (const RunListPart& part : RunListSql(list, ListPurpose::kCount)) {
        if (count >= most) break;
        KSANA_TRY_VOID(
            WalkRuns(session, part.sql, list, [&](const Run& /*run*/) { return ++count < most; }));
    }
    return count;
}

// Several parts only when sorted by the next fire.
Result<std::vector<Job>> ListJobs(Session& session, const JobList& list) {
    std::vector<std::vector<Job>> parts;
    const auto limit = static_cast<std::int64_t>(list.limit);
    for (const ListSql& part : JobListSql(list, ListPurpose::kRows, limit)) {
        Query query = session.connection.Dynamic(part.text);
        part.BindTo(query);
        KSANA_TRY(std::vector<Job> jobs, ReadJobs(session, query));
        parts.push_back(std::move(jobs));
    }
    return Merge(std::move(parts), list.limit, list.descending, [](const Job& job) {
        return std::pair(Micros(job.next_run_at), std::string_view(job.id));
    });
}

Result<std::int64_t> CountJobs(Session& session, const JobList& list, std::int64_t most) {
    return CountParts(session, JobListSql(list, ListPurpose::kCount, most), most);
}

}  // namespace ksana::store_sqlite::reads
