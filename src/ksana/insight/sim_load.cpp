#include "ksana/insight/sim_load.hpp"

#include <algorithm>

namespace ksana::insight {

LoadMeter::LoadMeter(TimePoint from, TimePoint to)
    : from_(from), cell_(to - from <= kSecondsWindow ? 1'000'000 : kMinute) {
    const std::int64_t span = (to - from).count();
    const auto cells = [&](std::int64_t size) {
        return static_cast<std::size_t>((span + size - 1) / size);
    };
    starts_.resize(cells(kMinute));
    changes_.resize(cells(cell_) + 1);
}

SimLoad LoadMeter::Take(std::optional<std::int64_t> slots) {
    SimLoad load;
    load.starts = std::move(starts_);
    load.running.resize(load.starts.size());
    for (std::size_t minute = 0; minute < load.starts.size(); ++minute) {
        if (load.starts[minute] <= load.max_starts) continue;
        load.max_starts = load.starts[minute];
        load.max_starts_at = from_ + std::chrono::minutes(minute);
    }
    std::int32_t touching = 0;
    for (std::size_t i = 0; i + 1 < changes_.size(); ++i) {
        touching += changes_[i];
        const auto running =
            static_cast<std::int32_t>(std::min<std::int64_t>(touching, slots.value_or(touching)));
        const auto since = static_cast<std::int64_t>(i) * cell_;
        auto& most = load.running[static_cast<std::size_t>(since / kMinute)];
        most = std::max(most, running);
        if (running <= load.max_running) continue;
        load.max_running = running;
        load.max_running_at = from_ + Duration(since);
    }
    return load;
}

}  // namespace ksana::insight
