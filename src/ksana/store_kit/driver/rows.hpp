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

// Lists as a driver gets them: cursors taken apart, words found, limits checked. Items come in the
// order asked for; `after` is the last item of the page before. Ids break ties and go in the same
// direction as the sort.
struct JobList {
    store::JobFilter filter;
    std::vector<std::string> words;  // of filter.text, in lower case (store/text_search.hpp)
    store::JobSort sort = store::JobSort::kId;
    bool descending = false;
    std::size_t limit = 0;
    struct After {
        std::string name;     // kName
        std::int64_t time{};  // microseconds of the time sorts; kNoTime where the job has none
        std::string id;
    };
    std::optional<After> after;
    std::size_t look = 0;  // rows to look at, at most (about); 0: as many as it takes
};

struct RunList {
    store::RunFilter filter;
    std::vector<std::string> words;
    store::RunSort sort = store::RunSort::kId;
    bool descending = true;
    std::size_t limit = 0;
    struct After {
        std::int64_t time{};  // of the time sorts
        Uuid id;
    };
    std::optional<After> after;
    std::size_t look = 0;
};

// What was found, and where the search for more ended because enough rows were looked at: all up
// to there are among the rows, if the limit left room.
template <class T, class List>
struct Listed {
    std::vector<T> rows;
    std::optional<typename List::After> looked_to;
};
using ListedJobs = Listed<model::Job, JobList>;
using ListedRuns = Listed<model::Run, RunList>;

// Sorts and compares as later than every time.
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
    std::string kind;  // empty: all (in order of kind, key)
    std::string prefix;
    std::string after_kind;  // with an empty kind: continues after (after_kind, after_key)
    std::string after_key;
    std::optional<TimePoint> alive_at;  // leaves out what has expired by then; none: everything
    std::size_t limit = 0;
};

// Reads rows of one consistent state of the store.
class Reader {
  public:
    virtual ~Reader() = default;

    // The store's own clock, by which leases are judged.
    virtual Result<TimePoint> Now() = 0;

    // Those that exist, in any order.
    virtual Result<std::vector<model::Job>> Jobs(const std::vector<std::string>& ids) = 0;
    virtual Result<std::vector<model::Run>> Runs(const std::vector<Uuid>& ids) = 0;
    // Earlier attempts (the last one is in the run's row) by run id and number.
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
    // The latest `limit` final runs by finished_at.
    virtual Result<std::vector<store::RunSample>> Samples(const store::StatisticsParams& params,
                                                          std::size_t limit) = 0;
    // Unfinished runs, by kind, type and state.
    virtual Result<std::vector<store::QueueDepth>> Depths() = 0;
    virtual Result<store::WakeTimes> NextWake() = 0;
    virtual Result<store::RecordCounts> Counts() = 0;
    // Ids of the jobs that depend on this one.
    virtual Result<std::vector<std::string>> DependantsOf(const std::string& job_id) = 0;
    virtual Result<std::vector<store::GroupSize>> Groups(const store::GroupQuery& query) = 0;
};

}  // namespace ksana::store_kit
