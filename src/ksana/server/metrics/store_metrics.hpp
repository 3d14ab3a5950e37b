#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "ksana/base/error/error.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/store/store.hpp"
#include "ksana/telemetry/registry.hpp"

namespace ksana::server {

// Measures the calls of a store: how long they took, and which errors they returned. The hook of a
// WrappedStore. Thread-safe.
class StoreMeter {
  public:
    static constexpr bool kRepeats = false;

    // Both must outlive this object.
    StoreMeter(telemetry::Registry& registry, const Clock& clock);

    template <class F>
    auto Call(std::string_view operation, const F& body) -> decltype(body()) {
        const SteadyPoint began = clock_.SteadyNow();
        auto answer = body();
        DurationsOf(operation).Observe(clock_.SteadyNow() - began);
        if (!answer) CountError(operation, answer.error().code);
        return answer;
    }

  private:
    telemetry::Histogram& DurationsOf(std::string_view operation);
    void CountError(std::string_view operation, Code code);

    const Clock& clock_;
    telemetry::Family<telemetry::Histogram>& durations_;
    telemetry::Family<telemetry::Counter>& errors_;
    Mutex mutex_;
    // The operations called so far. The keys are literals.
    std::map<std::string_view, telemetry::Histogram*> known_ KSANA_GUARDED_BY(mutex_);
};

// Returns a store that forwards every call to `inner` and measures it. All arguments must outlive
// it.
std::unique_ptr<store::Store> MakeMeteredStore(store::Store& inner, telemetry::Registry& registry,
                                               const Clock& clock);

}  // namespace ksana::server
