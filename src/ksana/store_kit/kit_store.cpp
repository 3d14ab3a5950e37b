#include "ksana/store_kit/kit_store.hpp"

#include "ksana/store_kit/documents/kit_documents.hpp"
#include "ksana/store_kit/documents/kit_events.hpp"
#include "ksana/store_kit/documents/kit_nodes.hpp"
#include "ksana/store_kit/documents/kit_records.hpp"
#include "ksana/store_kit/documents/kit_workers.hpp"
#include "ksana/store_kit/jobs/kit_jobs.hpp"
#include "ksana/store_kit/runs/kit_runs.hpp"

namespace ksana::store_kit {
namespace {

// The setting that a probe of a store writes whose writes have failed.
constexpr const char* kProbe = "store.probe";

// Owns the driver and the role stores over it. Thread-safe.
class KitStore final : public store::Store {
  public:
    KitStore(std::unique_ptr<Backend> backend, UuidGenerator& ids)
        : backend_(std::move(backend)),
          source_(ids),
          jobs_(*backend_, source_),
          runs_(*backend_, source_),
          types_(*backend_),
          workers_(*backend_),
          nodes_(*backend_),
          locks_(*backend_),
          settings_(*backend_),
          events_(*backend_),
          records_(*backend_) {}

    store::JobStore& jobs() override { return jobs_; }
    store::RunStore& runs() override { return runs_; }
    store::TypeStore& types() override { return types_; }
    store::WorkerStore& workers() override { return workers_; }
    store::NodeStore& nodes() override { return nodes_; }
    store::LockStore& locks() override { return locks_; }
    store::SettingStore& settings() override { return settings_; }
    store::EventStore& events() override { return events_; }
    store::RecordStore& records() override { return records_; }
    store::ChangeFeed& changes() override { return backend_->changes(); }

    void MakeRunsWith(store::RunMaker maker) override { source_.MakeRunsWith(std::move(maker)); }

    Result<void> Writable() override {
        if (!backend_->WriteFails()) return {};
        KSANA_TRY([[maybe_unused]] const model::Document probe,
                  settings_.Put({.key = kProbe, .value = "1"}));
        return {};
    }

    Result<TimePoint> Now() override {
        TimePoint now{};
        KSANA_TRY_VOID(backend_->Read([&](Reader& rows) -> Result<void> {
            KSANA_TRY(now, rows.Now());
            return {};
        }));
        return now;
    }

    Result<store::StoreInfo> Info() override { return backend_->Info(); }

  private:
    std::unique_ptr<Backend> backend_;
    RunSource source_;
    KitJobs jobs_;
    KitRuns runs_;
    KitTypes types_;
    KitWorkers workers_;
    KitNodes nodes_;
    KitLocks locks_;
    KitSettings settings_;
    KitEvents events_;
    KitRecords records_;
};

}  // namespace

std::unique_ptr<store::Store> MakeStore(std::unique_ptr<Backend> backend, UuidGenerator& ids) {
    return std::make_unique<KitStore>(std::move(backend), ids);
}

}  // namespace ksana::store_kit
