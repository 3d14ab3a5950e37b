#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ksana/model/job/dependency.hpp"
#include "ksana/store_kit/driver/transaction.hpp"
#include "ksana/store_kit/runs/run_source.hpp"

namespace ksana::store_kit {

// The end of a run that other jobs are to be told of.
struct Ending {
    std::string job_id;
    model::RunState state = model::RunState::kSucceeded;
    TimePoint at{};
    std::string trace = {};  // model::TraceLinkTo the run; empty if it does not follow
    bool follows = false;    // model::EndsForFollowers: it makes fires of `after` schedules
};

// Call it before a job with a new schedule is written, with the job and those it names locked:
// moves planned_until behind the ends that have already been, by whatever clock. A `join: all`
// begins after them, so the reaper must not take them for ends that were not told.
Result<void> BeginJoin(Transaction& tx, model::Job& job);

// Makes the fires of `after` schedules from the ends of runs, and names the jobs whose waiting runs
// may go on. Locks all jobs concerned. Lives for one transaction. Not thread-safe.
class Followers {
  public:
    Followers(Transaction& tx, TimePoint now, const RunSource& source)
        : tx_(tx), now_(now), source_(source) {}

    // Accounts for the ends. The caller inserts runs() and looks at waiting().
    Result<void> Tell(const std::vector<Ending>& endings);

    // Looks for ends that joins wait for and were not told of. Looks at `limit` joins whose keys
    // follow `cursor`, which moves on; at the last one it becomes empty.
    Result<void> Sweep(std::string& cursor, std::size_t limit);

    std::vector<model::Run>& runs() { return runs_; }
    // Jobs with depends_on that names one of the jobs whose runs ended.
    const std::set<std::string>& waiting() const { return waiting_; }

  private:
    Result<void> Lock(const std::set<std::string>& ids);
    Result<void> Arrive(model::Job& job, const Ending& ending);
    Result<void> Arrive(model::Job& job, const std::string& parent, TimePoint at,
                        const std::string& trace);
    // `trace`: link to the run whose end makes the fire; empty: not known any more.
    Result<void> Fire(model::Job& job, TimePoint at, const std::string& trace);
    Result<void> Look(const model::Document& document);

    Transaction& tx_;
    TimePoint now_;
    const RunSource& source_;
    std::map<std::string, model::Job> jobs_;  // locked
    std::vector<model::Run> runs_;
    std::set<std::string> waiting_;
};

}  // namespace ksana::store_kit
