#pragma once

#include <set>
#include <string>

#include "ksana/model/run/run.hpp"
#include "ksana/store_postgres/wire/connection.hpp"

namespace ksana::store_postgres {

// The jobs whose fires a transaction stores or ends. A fire (job, nominal time) is unique in `runs`
// and in `finished_runs`; over both it is because whoever inserts or moves a run of one holds the
// lock of its job until the end of the transaction, and looks in a later statement. These locks are
// there for jobs that are deleted, too.
class FireJobs {
  public:
    void Add(const model::Run& run) {
        if (run.nominal_at && !run.job_id.empty()) ids_.insert(run.job_id);
    }
    void Append(const FireJobs& other) { ids_.insert(other.ids_.begin(), other.ids_.end()); }
    bool empty() const { return ids_.empty(); }

    // Takes the locks; in the order of the ids, so that two of them do not wait for each other.
    Statement Lock() const;

  private:
    std::set<std::string> ids_;
};

}  // namespace ksana::store_postgres
