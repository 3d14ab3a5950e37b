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

// What a callback puts its values into.
class Samples {
  public:
    explicit Samples(const MetricSpec& spec) : spec_(spec) {}

    // Without labels: Add({}, value). Equal label sets are added up, and so are those beyond the
    // limit, under kOtherValue.
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

// Puts the values of now, or nothing where they cannot be had. Called by the thread that scrapes,
// never by two at once; it must not throw, and not take long: the scrape waits for it.
using Collect = std::function<void(Samples&)>;

// A metric whose values are computed when somebody looks.
class CallbackMetric final : public Metric {
  public:
    CallbackMetric(MetricKind kind, MetricSpec spec, Collect collect)
        : Metric(kind, std::move(spec)), collect_(std::move(collect)) {}

    // Without the lock: a callback that registers something is asked itself on the way.
    bool alive() const override { return alive_; }

    void Write(Exposition& out) const override {
        const MutexLock lock(mutex_);
        if (!collect_) return;
        Samples samples(spec());
        collect_(samples);
        out.Head(*this);
        for (const auto& [values, value] : samples.values()) out.Write(spec(), values, value);
    }

    // When it returns the callback is not running, and will not be called again.
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

// Held by the owner of what the callback looks at, and declared after it: with this the callback
// ends. May outlive the registry. Not to be let go inside the callback itself.
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
