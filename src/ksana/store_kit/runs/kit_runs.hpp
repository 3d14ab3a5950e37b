#pragma once

#include "ksana/base/process/mutex.hpp"
#include "ksana/store/run_store.hpp"
#include "ksana/store_kit/driver/backend.hpp"
#include "ksana/store_kit/runs/run_source.hpp"

namespace ksana::store_kit {

// store::RunStore on top of a driver. `backend` and `ids` must outlive it. Thread-safe.
class KitRuns final : public store::RunStore {
  public:
    KitRuns(Backend& backend, RunSource& ids) : backend_(backend), ids_(ids) {}

    Result<std::vector<store::Submitted>> Submit(store::SubmitParams params) override;
    Result<store::Exchanged> Exchange(store::ExchangeParams params) override;
    Result<store::Reaped> Reap(store::ReapParams params) override;
    Result<std::size_t> Purge(const store::PurgeParams& params) override;
    Result<void> Delete(store::DeleteRunParams params) override;

    Result<store::RunHistory> Get(const Uuid& id) override;
    Result<store::Page<model::Run>> List(const store::RunQuery& query) override;
    Result<store::Counted> CountWithin(const store::RunFilter& filter,
                                       const store::CountBounds& bounds) override;
    Result<std::vector<store::QueueDepth>> Depths() override;
    Result<store::WakeTimes> NextWake() override;

  private:
    Backend& backend_;
    RunSource& ids_;
    Mutex mutex_;
    std::string join_cursor_ KSANA_GUARDED_BY(mutex_);  // where Reap goes on looking at joins
};

// Returns `given`, or the store's clock if there is none.
Result<TimePoint> TimeOf(const std::optional<TimePoint>& given, Reader& rows);

}  // namespace ksana::store_kit
