#include "ksana/store_kit/driver/stored_policy.hpp"

#include <cstdint>
#include <utility>
#include <variant>

#include "ksana/base/ids/hash.hpp"
#include "ksana/codec/records/record_codec.hpp"

namespace ksana::store_kit {

std::string PolicyToText(const model::RunPolicy& policy) {
    return codec::RecordToLine(model::Run{.policy = policy});
}

Result<model::RunPolicy> PolicyFromText(std::string_view text) {
    auto record = codec::RecordFromLine(text);
    if (!record) {
        return Error(Code::kDataLoss, "a stored policy cannot be read: " + record.error().message);
    }
    auto* run = std::get_if<model::Run>(&*record);
    if (run == nullptr) return Error(Code::kDataLoss, "a stored policy is another record");
    return std::move(run->policy);
}

std::size_t PolicyHash::operator()(const model::RunPolicy& policy) const {
    std::uint64_t hash = 0;
    const auto mix = [&hash](std::int64_t value) {
        hash = MixBits(hash ^ static_cast<std::uint64_t>(value));
    };
    mix(policy.timeout.count());
    mix(policy.stop_grace.count());
    mix(policy.retry.interval.count());
    mix(policy.retry.max_retries);
    mix(static_cast<int>(policy.retry.strategy));
    mix(static_cast<int>(policy.overlap));
    mix((policy.need_manual ? 1 : 0) + (policy.success_callback ? 2 : 0) +
        (policy.error_callback ? 4 : 0) + (policy.depends ? 8 : 0));
    mix(policy.max_wait.count());
    return hash;
}

}  // namespace ksana::store_kit
