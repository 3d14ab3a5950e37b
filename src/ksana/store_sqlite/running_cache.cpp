#include "ksana/store_sqlite/running_cache.hpp"

namespace ksana::store_sqlite {
namespace {

// About as many as a node has in hand at a time; a few megabytes.
constexpr std::size_t kMaxRuns = 4'096;
constexpr std::size_t kMaxPayload = 4'096;

}  // namespace

bool RunningCache::TakeInto(const Uuid& id, std::vector<model::Run>& runs) {
    const auto found = runs_.find(id);
    if (found == runs_.end()) return false;
    runs.push_back(std::move(found->second));
    runs_.erase(found);
    return true;
}

void RunningCache::Written(const model::Run& run) {
    const auto found = runs_.find(run.id);
    if (run.status.state != model::RunState::kRunning || run.payload.size() > kMaxPayload) {
        if (found != runs_.end()) runs_.erase(found);
    } else if (found != runs_.end()) {
        found->second = run;
    } else if (runs_.size() < kMaxRuns) {
        runs_.emplace(run.id, run);
    }
}

}  // namespace ksana::store_sqlite
