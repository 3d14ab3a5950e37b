#include "ksana/store_sqlite/running_cache.hpp"

#include <cstdint>
#include <cstring>

#include "ksana/base/hash.hpp"

namespace ksana::store_sqlite {
namespace {

// About as many as a node has in hand at a time; a few megabytes.
constexpr std::size_t kMaxRuns = 4'096;
constexpr std::size_t kMaxPayload = 4'096;

}  // namespace

std::size_t RunningCache::Hash::operator()(const Uuid& id) const {
    std::uint64_t low = 0;  // the random part
    std::memcpy(&low, id.bytes.data() + sizeof low, sizeof low);
    return MixBits(low);
}

const model::Run* RunningCache::Find(const Uuid& id) const {
    const auto found = runs_.find(id);
    return found == runs_.end() ? nullptr : &found->second;
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
