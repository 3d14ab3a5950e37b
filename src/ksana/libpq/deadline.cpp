#include "ksana/libpq/deadline.hpp"

#include <algorithm>

namespace ksana::libpq {

std::uint64_t Backoff::Draw() {
    const MutexLock lock(mutex_);
    return random_.Next();
}

bool Backoff::Wait(int tries, Range range, const Deadline& deadline, const std::stop_token& stop) {
    if (deadline.Passed()) return false;
    const Duration full = std::min(range.most, range.first * (1 << std::clamp(tries - 1, 0, 16)));
    // Between half and all of `full`.
    const auto half = static_cast<std::uint64_t>(full.count() / 2);
    const Duration wait(static_cast<std::int64_t>(half + Draw() % (half + 1)));
    const SteadyPoint until = std::min<SteadyPoint>(deadline.at(), clock_.SteadyNow() + wait);
    Wakeup nobody;
    return clock_.Wait(nobody, until, stop) != WaitOutcome::kStopped;
}

}  // namespace ksana::libpq
