#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ksana/model/job/dependency.hpp"
#include "ksana/store/job_store.hpp"
#include "ksana/store_kit/driver/transaction.hpp"

namespace ksana::store_kit {

// The edges between jobs (depends_on and `after` schedules) in a transaction that writes or deletes
// jobs: the jobs named must exist and form no cycle, and each job knows how many others name it.
// Transactions that add edges take one lock for all, so that two of them cannot make the two halves
// of a cycle. Lives for one transaction. Not thread-safe.
class JobEdges {
  public:
    explicit JobEdges(Transaction& tx) : tx_(tx) {}

    // Call it before the jobs are locked. Returns the jobs to lock: those of the writes, and those
    // that they name or named if that changes.
    Result<std::set<std::string>> Begin(const std::vector<store::JobWrite>& writes);
    // The same for jobs that are deleted.
    Result<std::set<std::string>> BeginDelete(const std::string& id);

    // Checks a job that is about to be written. `stored` holds the locked jobs. Accepted edges
    // count for the jobs that are checked after it.
    Result<void> Accept(const model::Job& job, const std::map<std::string, model::Job>& stored);

    // Call it after the rows are written: counts the jobs that name those concerned, and lets the
    // unfinished runs of jobs that are named now for the first time tell of their end.
    Result<void> End(const std::map<std::string, model::Job>& stored);

  private:
    using Jobs = std::map<std::string, model::Job>;
    Result<void> CheckParents(const model::Job& job, const model::Job* before,
                              const Jobs& stored) const;
    Result<void> CheckCycle(const model::Job& job);
    Result<std::vector<std::string>> ParentsNow(const std::string& id);
    Result<std::vector<model::Run>> LockHeld(const std::string& id);
    Result<void> Watch(const std::string& id);

    Transaction& tx_;
    bool locked_ = false;                                       // the lock for edges is held
    std::map<std::string, std::vector<std::string>> before_;    // parents, as read by Begin
    std::map<std::string, std::vector<std::string>> accepted_;  // parents, as written
    std::set<std::string> named_;                               // by accepted jobs
    std::set<std::string> touched_;                             // whose dependants may differ
};

// Counts the jobs that name each of these and their parents, after an import.
Result<void> CountDependants(Transaction& tx, const std::vector<model::Job>& jobs);

}  // namespace ksana::store_kit
