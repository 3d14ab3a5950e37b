#include "ksana/server/metrics/lock_metrics.hpp"

#include "ksana/base/error/error.hpp"

namespace ksana::server {

MeteredLocks::MeteredLocks(std::unique_ptr<lock::LockDriver> driver, telemetry::Registry& registry,
                           const Clock& clock)
    : driver_(std::move(driver)),
      clock_(clock),
      calls_(registry.AddCounters({"ksana_lock_calls_total",
                                   "Calls of the locks by which servers share out work, by "
                                   "outcome: granted, held by another, or the code of an error.",
                                   {"operation", "outcome"}})),
      waits_(registry.AddHistograms({"ksana_lock_wait_seconds",
                                     "How long this node waited for the locks to answer.",
                                     {"operation"}},
                                    telemetry::LatenessBuckets())) {
    for (const char* const operation : {"try", "renew", "release"}) {
        waits_.With({operation});
        calls_.With({operation, "granted"});
    }
    calls_.With({"try", "held"});
}

void MeteredLocks::Count(std::string_view operation, std::string_view outcome) {
    calls_.With({operation, outcome}).Add();
}

template <class F>
auto MeteredLocks::Measure(std::string_view operation, const F& call) -> decltype(call()) {
    const SteadyPoint began = clock_.SteadyNow();
    auto answer = call();
    waits_.With({operation}).Observe(clock_.SteadyNow() - began);
    if (!answer) Count(operation, Info(answer.error().code).name);
    return answer;
}

Result<lock::TryAnswer> MeteredLocks::Try(const lock::LockRequest& request) {
    auto answer = Measure("try", [&] { return driver_->Try(request); });
    if (answer) Count("try", answer->grant ? "granted" : "held");
    return answer;
}

Result<lock::Grant> MeteredLocks::Renew(const lock::LockRequest& request, std::int64_t fence) {
    auto answer = Measure("renew", [&] { return driver_->Renew(request, fence); });
    if (answer) Count("renew", "granted");
    return answer;
}

Result<void> MeteredLocks::Release(const lock::LockRequest& request, std::int64_t fence) {
    auto answer = Measure("release", [&] { return driver_->Release(request, fence); });
    if (answer) Count("release", "granted");
    return answer;
}

}  // namespace ksana::server
