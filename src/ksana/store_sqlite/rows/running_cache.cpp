#include "ksana/store_sqlite/rows/running_cache.hpp"

namespace ksana::store_sqlite {
namespace {

// About as many runs as a node has in progress at a time; a few megabytes.
constexpr std::size_t kMaxRuns = 4'096;
constexpr std::size_t kMaxPayload = 4'096;

}  // namespace

bool RunningCache::TakeInto(const Uuid& id, std::vector<model::Run>& runs) {
    const Place* const place = places_.Find(id);
    if (place == nullptr) return false;
    runs.push_back(std::move(runs_[*place]));
    free_.push_back(*place);
    places_.Erase(id);
    return true;
}

void RunningCache::Written(const model::Run& run) {
    if (run.status.state != model::RunState::kRunning || run.payload.size() > kMaxPayload) {
        return Deleted(run.id);
    }
    const Place* const known = places_.Find(run.id);
    if (known == nullptr && places_.size() >= kMaxRuns) return;
    const Place place = known != nullptr ? *known : FreePlace();
    runs_[place] = run;
    if (known == nullptr) places_.Put(run.id, place);
}

void RunningCache::Deleted(const Uuid& id) {
    const Place* const place = places_.Find(id);
    if (place == nullptr) return;
    runs_[*place] = {};
    free_.push_back(*place);
    places_.Erase(id);
}

void RunningCache::Clear() {
    places_.Clear();
    runs_.clear();
    free_.clear();
}

RunningCache::Place RunningCache::FreePlace() {
    if (free_.empty()) {
        runs_.emplace_back();
        return static_cast<Place>(runs_.size() - 1);
    }
    const Place place = free_.back();
    free_.pop_back();
    return place;
}

}  // namespace ksana::store_sqlite
