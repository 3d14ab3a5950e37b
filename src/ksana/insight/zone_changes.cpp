#include "ksana/insight/zone_changes.hpp"

namespace ksana::insight {

using std::chrono::seconds;

std::vector<ZoneChange> ZoneChanges(const schedule::Zone& zone, TimePoint from, TimePoint until,
                                    std::size_t max) {
    std::vector<ZoneChange> changes;
    const auto second = [](TimePoint t) {
        return std::chrono::floor<seconds>(t).time_since_epoch().count();
    };
    for (std::int64_t index = zone.IndexAt(second(from)); changes.size() < max; ++index) {
        const schedule::ZoneSegment segment = zone.Segment(index);
        if (segment.end > second(until)) break;  // also the last one, which has no end
        const std::int32_t after = zone.Segment(index + 1).offset;
        if (after != segment.offset) {
            changes.push_back({TimePoint(seconds(segment.end)), seconds(after - segment.offset)});
        }
    }
    return changes;
}

}  // namespace ksana::insight
