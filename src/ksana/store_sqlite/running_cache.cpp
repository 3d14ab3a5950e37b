#include "ksana/store_sqlite/running_cache.hpp"

namespace ksana::store_sqlite {
namespace {

// About as many as a node has in hand at a time; a few megabytes.
constexpr std::size_t kMaxRuns = 4'096;
constexpr std::size_t kMaxPayload = 4'096;

}  // namespace

std::optional<model::Run> RunningCache::Take(const Uuid& id) {
    auto found = runs_.extract(id);
    if (found.empty()) return std::nullopt;
    return std::move(found.mapped());
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
