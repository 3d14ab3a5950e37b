#include "ksana/store/fault_plan.hpp"

#include "ksana/base/ids/hash.hpp"
#include "ksana/base/ids/random.hpp"

namespace ksana::store {
namespace {

constexpr std::uint64_t kMillion = 1'000'000;

}  // namespace

void FaultPlan::At(std::string_view operation, std::int64_t ordinal, Fault fault) {
    const MutexLock lock(mutex_);
    exact_[{std::string(operation), ordinal}] = fault;
}

void FaultPlan::Next(std::string_view operation, Fault fault) {
    const MutexLock lock(mutex_);
    const auto calls = calls_.find(operation);
    const std::int64_t next = calls == calls_.end() ? 1 : calls->second + 1;
    exact_[{std::string(operation), next}] = fault;
}

void FaultPlan::Randomly(std::string_view operation_prefix, FaultChances chances) {
    const MutexLock lock(mutex_);
    chances_[std::string(operation_prefix)] = chances;
}

void FaultPlan::Clear() {
    const MutexLock lock(mutex_);
    exact_.clear();
    chances_.clear();
}

Fault FaultPlan::Take(std::string_view operation) {
    const MutexLock lock(mutex_);
    const std::int64_t ordinal = ++calls_[std::string(operation)];
    const auto exact = exact_.find({std::string(operation), ordinal});
    const Fault fault = exact == exact_.end() ? Draw(operation, ordinal) : exact->second;
    if (fault.kind != FaultKind::kNone) ++injected_[{fault.kind, std::string(operation)}];
    return fault;
}

Fault FaultPlan::Draw(std::string_view operation, std::int64_t ordinal) const {
    const FaultChances* chances = nullptr;
    for (const auto& [prefix, entry] : chances_) {  // a longer prefix comes after a shorter one
        if (operation.starts_with(prefix)) chances = &entry;
    }
    if (chances == nullptr) return {};
    SeededRandom random(seed_ ^ HashText(operation, ordinal));
    std::uint64_t drawn = random.Below(kMillion);
    const auto hits = [&](std::uint32_t chance) {
        if (drawn < chance) return true;
        drawn -= chance;
        return false;
    };
    if (hits(chances->error_before)) return {FaultKind::kErrorBefore};
    if (hits(chances->error_after)) return {FaultKind::kErrorAfter};
    if (hits(chances->duplicate)) return {FaultKind::kDuplicate};
    const bool before = hits(chances->delay);
    if (!before && !hits(chances->late_answer)) return {};
    const auto longest = static_cast<std::uint64_t>(chances->longest_delay.count());
    return {before ? FaultKind::kDelay : FaultKind::kLateAnswer,
            Duration(static_cast<std::int64_t>(random.Below(longest + 1)))};
}

std::int64_t FaultPlan::Calls(std::string_view operation) const {
    const MutexLock lock(mutex_);
    const auto calls = calls_.find(operation);
    return calls == calls_.end() ? 0 : calls->second;
}

std::int64_t FaultPlan::Injected(FaultKind kind) const {
    const MutexLock lock(mutex_);
    std::int64_t sum = 0;
    for (const auto& [key, count] : injected_) {
        if (key.first == kind) sum += count;
    }
    return sum;
}

std::int64_t FaultPlan::Injected(FaultKind kind, std::string_view operation) const {
    const MutexLock lock(mutex_);
    const auto found = injected_.find({kind, std::string(operation)});
    return found == injected_.end() ? 0 : found->second;
}

}  // namespace ksana::store
