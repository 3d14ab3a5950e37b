#include "ksana/scheduler.hpp"

#include <utility>
#include <vector>

#include "ksana/sdk/scheduler_core.hpp"

namespace ksana {
namespace {

// The parts of schedulers whose runs did not end: their threads still use them. Never destroyed.
void KeepForEver(std::unique_ptr<detail::SchedulerCore> core) {
    static Mutex mutex;
    static auto& kept =
        *std::make_unique<std::vector<std::unique_ptr<detail::SchedulerCore>>>().release();
    const MutexLock lock(mutex);
    kept.push_back(std::move(core));
}

}  // namespace

Scheduler::Scheduler(Context& context, SchedulerOptions options)
    : core_(std::make_unique<detail::SchedulerCore>(context, std::move(options))) {}

Scheduler::~Scheduler() {
    if (!core_->Shutdown(core_->shutdown_timeout())) KeepForEver(std::move(core_));
}

Result<void> Scheduler::Start() { return core_->Start(); }

void Scheduler::Shutdown(std::chrono::milliseconds timeout) {
    static_cast<void>(core_->Shutdown(timeout));
}

Result<void> Scheduler::Trigger(std::string_view id, Parameters parameters) {
    return core_->Trigger(id, std::move(parameters));
}

std::vector<JobStatus> Scheduler::Snapshot() const { return core_->Snapshot(); }

Result<void> Scheduler::SetEnabled(std::string_view id, bool enabled) {
    return core_->SetEnabled(id, enabled);
}

Result<void> Scheduler::AddObject(JobSpec spec, detail::JobObject object) {
    return core_->Add(std::move(spec), std::move(object));
}

Result<void> Scheduler::AddHandler(std::string type, TaskHandler handler) {
    return core_->AddHandler(std::move(type), std::move(handler));
}

Result<void> Scheduler::Remove(std::string_view id) { return core_->Remove(id); }

std::uint16_t Scheduler::http_port() const { return core_->http_port(); }

}  // namespace ksana
