#pragma once

#include <atomic>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string_view>

#include "ksana/base/process/mutex.hpp"
#include "ksana/telemetry/exposition.hpp"
#include "ksana/telemetry/metric.hpp"

namespace ksana::telemetry {

// Collects the values that a callback reports in one scrape. Lives on the stack of the scraping
// thread.
class Samples {
  public:
    explicit Samples(const MetricSpec& spec) : spec_(spec) {}

    // Adds a sample; for a metric without labels, Add({}, value). The values of equal label sets
    // are summed. Label sets beyond spec.max_label_sets are summed under kOtherValue.
    void Add(std::initializer_list<std::string_view> labels, double value) {
        LabelValues values = CleanValues(spec_, std::span(labels.begin(), labels.size()));
        const bool room = values_.size() < spec_.max_label_sets || values_.contains(values);
        values_[room ? std::move(values) : OtherValues(spec_)] += value;
    }

    const std::map<LabelValues, double>& values() const { return values_; }

  private:
    const MetricSpec& spec_;
    std::map<LabelValues, double> values_;
};

// Reports the current values, or nothing if they are not available. Called on the scraping thread,
// never by two threads at once. It must not throw, and must be quick: the scrape waits for it.
using Collect = std::function<void(Samples&)>;

// A metric whose values are computed by a callback at each scrape. Shared by the Registry and the
// CallbackHandle. Thread-safe.
class CallbackMetric final : public Metric {
  public:
    CallbackMetric(MetricKind kind, MetricSpec spec, Collect collect)
        : Metric(kind, std::move(spec)), collect_(std::move(collect)) {}

    // Takes no lock: a callback may register a metric, and Registry::Add then calls this while
    // Write holds the lock.
    bool alive() const override { return alive_; }

    void Write(Exposition& out) const override {
        const MutexLock lock(mutex_);
        if (!collect_) return;
        Samples samples(spec());
        collect_(samples);
        out.Head(*this);
        for (const auto& [values, value] : samples.values()) out.Write(spec(), values, value);
    }

    // Removes the callback. When Drop returns, the callback is not running and is never called
    // again.
    void Drop() {
        const MutexLock lock(mutex_);
        collect_ = nullptr;
        alive_ = false;
    }

  private:
    mutable Mutex mutex_;
    Collect collect_ KSANA_GUARDED_BY(mutex_);
    std::atomic<bool> alive_ = true;
};

// Unregisters its callback on destruction. Held by the owner of the data that the callback reads,
// and declared after that data. May outlive the registry. Must not be destroyed inside the
// callback.
class [[nodiscard]] CallbackHandle {
  public:
    CallbackHandle() = default;
    explicit CallbackHandle(std::shared_ptr<CallbackMetric> metric) : metric_(std::move(metric)) {}
    CallbackHandle(CallbackHandle&&) noexcept = default;
    CallbackHandle& operator=(CallbackHandle&& other) noexcept {
        if (this == &other) return *this;
        if (metric_) metric_->Drop();
        metric_ = std::move(other.metric_);
        return *this;
    }
    ~CallbackHandle() {
        if (metric_) metric_->Drop();
    }

  private:
    std::shared_ptr<CallbackMetric> metric_;
};

}  // namespace ksana::telemetry
