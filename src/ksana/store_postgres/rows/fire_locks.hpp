#pragma once

#include <set>
#include <string>

#include "ksana/model/run/run.hpp"
#include "ksana/store_postgres/wire/names.hpp"

namespace ksana::store_postgres {

// The jobs whose fires a transaction inserts or ends. A fire (job, nominal time) is unique within
// `runs` and within `finished_runs`. To keep it unique across both tables, a transaction that
// inserts or moves a run of a fire holds the advisory lock of its job until it ends, and checks for
// the fire in a later statement. Advisory locks also work for jobs that are deleted. Part of one
// transaction; not thread-safe.
class FireJobs {
  public:
    void Add(const model::Run& run) {
        if (run.nominal_at && !run.job_id.empty()) ids_.insert(run.job_id);
    }
    void Append(const FireJobs& other) { ids_.insert(other.ids_.begin(), other.ids_.end()); }
    bool empty() const { return ids_.empty(); }

    // Returns the statement that takes the locks, in the order of the ids, so that two transactions
    // do not deadlock.
    Statement Lock() const;

  private:
    std::set<std::string> ids_;
};

}  // namespace ksana::store_postgres
