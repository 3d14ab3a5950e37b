#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/engine/actor.hpp"
#include "ksana/http_server/routing/message.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {
class RunService;
}

namespace ksana::api {

// The rows that page numbers reach. Whoever wants older entries narrows the query.
inline constexpr std::size_t kLogDepth = 10'000;
inline constexpr std::size_t kMaxLogPage = 100;
inline constexpr std::size_t kLogPageSize = 20;
// The most runs that one request deletes.
inline constexpr std::int64_t kMostCleaned = 1'000;

// What creates the runs of jobs. The store filters by one trigger at a time.
inline constexpr std::array<model::RunTrigger, 3> kTriggersOfJobs = {
    model::RunTrigger::kFire, model::RunTrigger::kManual, model::RunTrigger::kBackfill};

// The parameters of GET /admin/job-log/page.
struct LogQuery {
    std::size_t page = 1;
    std::size_t size = kLogPageSize;
    std::string job_id;  // empty: all jobs
    model::RunStates states = model::kAllStates & ~model::kUnfinishedStates;
    std::optional<TimePoint> from;   // ended at or after this
    std::optional<TimePoint> until;  // ended before this
};
Result<LogQuery> LogQueryOf(const http_server::Request& request);

struct LogPage {
    std::vector<model::Run> runs;  // the latest end first
    std::int64_t total = 0;
    bool exact = true;  // false: there are at least `total`
};

// The parameters of DELETE /admin/job-log/clean.
struct CleanQuery {
    std::string job_id;               // empty: all jobs
    std::optional<TimePoint> before;  // ended before this; none: all
};
Result<CleanQuery> CleanQueryOf(const http_server::Request& request);

struct Cleaned {
    std::int64_t runs = 0;
    bool more = false;  // kMostCleaned was reached: call again
};

// About how many rows a query examines before it ends early, and how many pages of one list may end
// so. Most rows may be runs of tasks, which no index tells from those of jobs.
struct LogBounds {
    std::size_t examined = 100'000;
    std::size_t cut_pages = 10;
};

// The log of document N: final runs of jobs. Runs of submitted tasks and callbacks are no part of
// it, except a task that was retried by hand. A log of all jobs is merged from one list for each of
// kTriggersOfJobs. Owned by the handlers; thread-safe. The store's errors are returned.
class JobLog {
  public:
    // `store` and `runs` must outlive the log.
    JobLog(store::Store& store, engine::RunService& runs, const LogBounds& bounds = {})
        : store_(store), runs_(runs), bounds_(bounds) {}

    // Returns kInvalidArgument if runs of tasks keep the page out of reach.
    Result<LogPage> Read(const LogQuery& query) const;
    // Returns kNotFound if the log has no such entry.
    Result<model::Run> Get(const std::string& id) const;
    // Deletes entries that belong to a job, the oldest of each trigger first. Each deletion is a
    // transaction of its own with its audit event; after an error the earlier ones remain.
    Result<Cleaned> Clean(const CleanQuery& query, const engine::Actor& by) const;

  private:
    Result<void> CleanOne(const store::RunFilter& filter, const engine::Actor& by,
                          Cleaned& cleaned) const;

    store::Store& store_;
    engine::RunService& runs_;
    LogBounds bounds_;
};

}  // namespace ksana::api
