#include "ksana/api/dispatcher/task_history.hpp"

#include <algorithm>

#include "ksana/api/edge/object_text.hpp"
#include "ksana/codec/dispatcher/dispatcher_execution.hpp"
#include "ksana/model/run/decide.hpp"

namespace ksana::api {
namespace {

using codec::DispatcherExecution;
using codec::DispatcherView;
using model::Run;

// Runs read at once: a run may take a megabyte.
constexpr std::size_t kHistoryRunsAtOnce = 100;
// Beyond a page, this many runs and bytes are read to count them. The rest is counted by the store,
// as runs: their retries are not.
constexpr std::size_t kCountedRuns = 1'000;
constexpr std::size_t kCountedBytes = std::size_t{8} << 20;
// About how many rows of other jobs one read examines, where the store has no index by job.
constexpr std::size_t kExaminedRows = 100'000;

std::size_t BytesOfRun(const Run& run) { return run.payload.size() + run.status.result.size(); }

// Reads the runs of one task, newest first, and collects those of their executions that belong to a
// page. Lives in one call.
class ExecutionWalk {
  public:
    ExecutionWalk(const TaskHistory& history, store::Store& store, const std::string& task_id,
                  const NumberedPage& page)
        : history_(history), store_(store), page_(page) {
        query_.filter.job_id = task_id;
        query_.limit = kHistoryRunsAtOnce;
        query_.look = kExaminedRows;
    }

    // Reads until the page is full or there are no more runs.
    Result<void> Fill() {
        while (!over_ && seen_ < page_.end()) KSANA_TRY_VOID(ReadOn());
        return {};
    }

    // Reads on to count executions, as far as that is cheap.
    Result<NumberedItems> Counted() {
        std::size_t runs = 0;
        while (!over_ && runs < kCountedRuns && bytes_ < kCountedBytes) {
            KSANA_TRY_VOID(ReadOn());
            runs += kHistoryRunsAtOnce;
        }
        NumberedItems found{.items = std::move(items_), .total = seen_, .exact = over_ && !cut_};
        if (found.exact) return found;
        KSANA_TRY(const store::Counted counted,
                  store_.runs().CountWithin(query_.filter,
                                            {.most = kDispatcherDepth + 1, .look = kExaminedRows}));
        found.total = std::max(found.total, static_cast<std::size_t>(counted.count));
        return found;
    }

    std::vector<std::string> TakeItems() { return std::move(items_); }

  private:
    Result<void> ReadOn() {
        KSANA_TRY(const store::Page<Run> read, store_.runs().List(query_));
        for (const Run& run : read.items) {
            bytes_ += BytesOfRun(run);
            KSANA_TRY_VOID(See(run));
        }
        query_.cursor = read.next;
        cut_ = cut_ || read.ended_early;
        // A read that ended early is the last: the rows of other jobs would never end.
        over_ = read.next.empty() || read.ended_early;
        return {};
    }

    // Reads the attempts only where the run itself does not tell, or where they are shown.
    Result<void> See(const Run& run) {
        const auto count = codec::ExecutionCount(run);
        const bool shown = seen_ < page_.end() && (!count || seen_ + *count > page_.begin());
        if (count && !shown) {
            seen_ += *count;
            return {};
        }
        if (run.status.attempt <= 1) {
            const auto last = model::LastAttempt(run);
            Add(run, last ? std::vector{*last} : std::vector<model::Attempt>());
            return {};
        }
        const auto history = store_.runs().Get(run.id);
        if (history) {
            Add(history->run, history->attempts);
        } else if (history.error().code != Code::kNotFound) {  // else: deleted meanwhile
            return history.error();
        }
        return {};
    }

    void Add(const Run& run, const std::vector<model::Attempt>& attempts) {
        auto executions = history_.Executions(run, attempts);
        std::ranges::reverse(executions);
        for (const DispatcherExecution& one : executions) {
            const bool shown = seen_ >= page_.begin() && seen_ < page_.end();
            if (shown) items_.push_back(codec::ExecutionToJson(run, one, DispatcherView::kListed));
            ++seen_;
        }
    }

    const TaskHistory& history_;
    store::Store& store_;
    const NumberedPage page_;
    store::RunQuery query_;
    std::vector<std::string> items_;
    std::size_t seen_ = 0;  // executions
    std::size_t bytes_ = 0;
    bool over_ = false;
    bool cut_ = false;
};

}  // namespace

std::vector<DispatcherExecution> TaskHistory::Executions(
    const Run& run, const std::vector<model::Attempt>& attempts) const {
    const bool published = published_ && published_(run);
    return codec::ExecutionsOf(
        run, attempts, published ? codec::ReadyRun::kToBePublished : codec::ReadyRun::kHandedOut);
}

Result<NumberedItems> TaskHistory::Page(const std::string& task_id,
                                        const NumberedPage& page) const {
    ExecutionWalk walk(*this, store_, task_id, page);
    KSANA_TRY_VOID(walk.Fill());
    return walk.Counted();
}

Result<std::vector<std::string>> TaskHistory::Recent(const std::string& task_id,
                                                     std::size_t most) const {
    ExecutionWalk walk(*this, store_, task_id, {.page = 1, .size = most});
    KSANA_TRY_VOID(walk.Fill());
    return walk.TakeItems();
}

Result<std::optional<std::string>> TaskHistory::Find(const std::string& task_id,
                                                     const std::string& execution_id) const {
    std::optional<std::string> found;
    const auto key = codec::ParseExecutionId(execution_id);
    if (!key) return found;
    const auto history = store_.runs().Get(key->run);
    if (!history) {
        if (history.error().code == Code::kNotFound) return found;
        return history.error();
    }
    if (history->run.job_id != task_id) return found;
    for (const DispatcherExecution& one : Executions(history->run, history->attempts)) {
        if (one.retry_count != key->retry_count) continue;
        found = codec::ExecutionToJson(history->run, one, DispatcherView::kWhole);
    }
    return found;
}

Result<std::string> TaskHistory::Statistics(const std::string& task_id) const {
    KSANA_TRY(const store::JobStatistics found,
              store_.jobs().Statistics({.job_id = task_id, .from = {}, .until = {}}));
    const std::int64_t total =
        found.succeeded + found.failed + found.cancelled + found.skipped + found.missed;
    ObjectText text;
    text.Put("total", total).Put("completed", found.succeeded);
    text.Put("failed", found.failed - found.timed_out).Put("timeout", found.timed_out);
    text.Put("cancelled", found.cancelled).Put("skipped", found.skipped);
    if (found.success_rate) {
        text.Put("success_rate", *found.success_rate);
    } else {
        text.Raw("success_rate", "null");
    }
    if (found.average) {
        const auto ms = std::chrono::round<std::chrono::milliseconds>(*found.average);
        text.Put("average_duration_ms", std::int64_t{ms.count()});
    } else {
        text.Raw("average_duration_ms", "null");
    }
    return text.Take();
}

}  // namespace ksana::api
