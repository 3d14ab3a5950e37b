#pragma once

#include <utility>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/model/job/job_run.hpp"
#include "ksana/store/job_store.hpp"

namespace ksana::store_kit {

// Where the ids of new runs and attempts come from, and the runs of fires that follow the end of
// other jobs' runs. Owned by the store. Thread-safe.
class RunSource {
  public:
    // `ids` must outlive this object.
    explicit RunSource(UuidGenerator& ids) : ids_(ids) {}

    Uuid Next() { return ids_.Next(); }

    void MakeRunsWith(store::RunMaker maker) {
        const MutexLock lock(mutex_);
        maker_ = std::move(maker);
    }

    // Makes the run of a fire, without id and times. Whether others are to be told of its end
    // follows from the job as it is stored.
    model::Run RunOf(const model::Job& job) const {
        store::RunMaker maker;
        {
            const MutexLock lock(mutex_);
            maker = maker_;
        }
        model::Run run = maker ? maker(job) : model::RunOf(job, nullptr, {});
        run.job_id = job.id;
        run.status.watched = job.state.dependants > 0;
        return run;
    }

  private:
    UuidGenerator& ids_;
    mutable Mutex mutex_;
    store::RunMaker maker_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::store_kit
