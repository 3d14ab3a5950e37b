#pragma once

#include <utility>

#include "ksana/store/store.hpp"
#include "ksana/store/wrapped/wrapped_cluster.hpp"
#include "ksana/store/wrapped/wrapped_documents.hpp"
#include "ksana/store/wrapped/wrapped_runs.hpp"

namespace ksana::store {

// A store that forwards every call to another through a hook (wrapped_runs.hpp), except the change
// feed and MakeRunsWith. Thread-safe if the hook is.
template <class Hook>
class WrappedStore final : public Store {
  public:
    // `inner` must outlive the store. The other arguments make the hook.
    template <class... Arguments>
    explicit WrappedStore(Store& inner, Arguments&&... arguments)
        : inner_(inner), hook_(std::forward<Arguments>(arguments)...) {}

    JobStore& jobs() override { return jobs_; }
    RunStore& runs() override { return runs_; }
    TypeStore& types() override { return types_; }
    WorkerStore& workers() override { return workers_; }
    NodeStore& nodes() override { return nodes_; }
    LockStore& locks() override { return locks_; }
    SettingStore& settings() override { return settings_; }
    EventStore& events() override { return events_; }
    RecordStore& records() override { return records_; }
    ChangeFeed& changes() override { return inner_.changes(); }
    void MakeRunsWith(RunMaker maker) override { inner_.MakeRunsWith(std::move(maker)); }

    Result<void> Writable() override {
        return hook_.Call("store.Writable", [&] { return inner_.Writable(); });
    }
    Result<TimePoint> Now() override {
        return hook_.Call("store.Now", [&] { return inner_.Now(); });
    }
    Result<StoreInfo> Info() override {
        return hook_.Call("store.Info", [&] { return inner_.Info(); });
    }

  private:
    Store& inner_;
    Hook hook_;
    WrappedJobs<Hook> jobs_{inner_.jobs(), hook_};
    WrappedRuns<Hook> runs_{inner_.runs(), hook_};
    WrappedTypes<Hook> types_{inner_.types(), hook_};
    WrappedWorkers<Hook> workers_{inner_.workers(), hook_};
    WrappedNodes<Hook> nodes_{inner_.nodes(), hook_};
    WrappedLocks<Hook> locks_{inner_.locks(), hook_};
    WrappedSettings<Hook> settings_{inner_.settings(), hook_};
    WrappedEvents<Hook> events_{inner_.events(), hook_};
    WrappedRecords<Hook> records_{inner_.records(), hook_};
};

}  // namespace ksana::store
