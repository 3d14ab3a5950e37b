#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/model/document.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/job/plan.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store/event_store.hpp"
#include "ksana/store/job_query.hpp"
#include "ksana/store/run_query.hpp"
#include "ksana/store/run_store.hpp"
#include "ksana/store/statistics.hpp"
#include "ksana/store/store.hpp"

namespace ksana::store_kit {

// Queries as a driver gets them: cursors parsed, search words split, limits checked. Rows are
// returned in the order of the query; `after` is the last row of the previous page. Ids break ties,
// in the direction of the sort.
struct JobList {
    store::JobFilter filter;
    std::vector<std::string> words;  // of filter.text, in lower case (store/text_search.hpp)
    store::JobSort sort = store::JobSort::kId;
    bool descending = false;
    std::size_t limit = 0;
    struct After {
        std::string name;  // for kName
        // For the time sorts: microseconds, or kNoTime if the job has no such time.
        std::int64_t time{};
        std::string id;
    };
    std::optional<After> after;
    std::size_t look = 0;  // about how many rows to examine at most; 0: no bound
};

struct RunList {
    store::RunFilter filter;
    std::vector<std::string> words;
    store::RunSort sort = store::RunSort::kId;
    bool descending = true;
    std::size_t limit = 0;
    struct After {
        std::int64_t time{};  // for the time sorts: microseconds
        Uuid id;
    };
    std::optional<After> after;
    std::size_t look = 0;
};

// The rows found. `scanned_to` is set if the search stopped because of the bound `look`: every
// match up to there is among the rows, unless `limit` was reached.
template <class T, class List>
struct Listed {
    std::vector<T> rows;
    std::optional<typename List::After> scanned_to;
};
using ListedJobs = Listed<model::Job, JobList>;
using ListedRuns = Listed<model::Run, RunList>;

// A missing time sorts after every time.
inline constexpr std::int64_t kNoTime = INT64_MAX;

struct LedgerList {
    std::string job_id;  // empty: all
    std::optional<TimePoint> from;
    std::optional<TimePoint> until;
    std::int64_t after = 0;  // seq
    std::size_t limit = 0;
};

struct EventList {
    store::EventFilter filter;
    bool descending = true;
    std::optional<std::int64_t> after;  // seq
    std::size_t limit = 0;
};

struct DocumentList {
    std::string kind;  // empty: all, ordered by kind and key
    std::string prefix;
    std::string after_kind;  // with an empty kind: continues after (after_kind, after_key)
    std::string after_key;
    // Excludes documents that have expired by then; none: includes all.
    std::optional<TimePoint> alive_at;
    std::size_t limit = 0;
};

// Reads rows of one consistent state of the store. Implemented by each driver; valid only inside
// the body it is passed to, on that body's thread. An error makes the body fail.
class Reader {
  public:
    virtual ~Reader() = default;

    // Returns the store's clock, which decides whether a lease has expired.
    virtual Result<TimePoint> Now() = 0;

    // Return the rows that exist, in any order.
    virtual Result<std::vector<model::Job>> Jobs(const std::vector<std::string>& ids) = 0;
    virtual Result<std::vector<model::Run>> Runs(const std::vector<Uuid>& ids) = 0;
    // Returns earlier attempts, by run id and number. The last attempt is in the run's row.
    virtual Result<std::vector<model::Attempt>> Attempts(const std::vector<Uuid>& run_ids) = 0;

    virtual Result<ListedJobs> ListJobs(const JobList& list) = 0;
    virtual Result<store::Counted> CountJobs(const JobList& list, std::int64_t most) = 0;
    virtual Result<ListedRuns> ListRuns(const RunList& list) = 0;
    virtual Result<store::Counted> CountRuns(const RunList& list, std::int64_t most) = 0;
    virtual Result<std::vector<model::LedgerEntry>> ListLedger(const LedgerList& list) = 0;
    virtual Result<std::vector<model::AuditEvent>> ListEvents(const EventList& list) = 0;
    virtual Result<std::vector<model::Document>> ListDocuments(const DocumentList& list) = 0;

    virtual Result<std::optional<model::Run>> FindFire(const std::string& job_id,
                                                       TimePoint nominal) = 0;
    // Returns the latest `limit` final runs by finished_at.
    virtual Result<std::vector<store::RunSample>> Samples(const store::StatisticsParams& params,
                                                          std::size_t limit) = 0;
    // Returns the number of unfinished runs by kind, type and state.
    virtual Result<std::vector<store::QueueDepth>> Depths() = 0;
    virtual Result<store::WakeTimes> NextWake() = 0;
    virtual Result<store::RecordCounts> Counts() = 0;
    // Returns the ids of the jobs that name this one (model::ParentsOf), in order.
    virtual Result<std::vector<std::string>> DependantsOf(const std::string& job_id) = 0;
    virtual Result<std::vector<store::GroupSize>> Groups(const store::GroupQuery& query) = 0;
};

}  // namespace ksana::store_kit
