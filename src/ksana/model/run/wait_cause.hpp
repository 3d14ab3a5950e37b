#pragma once

#include <cstdint>
#include <string>

#include "ksana/model/enum_names.hpp"

namespace ksana::model {

enum class WaitReason : std::uint8_t { kLimited, kBreakerOpen, kDependency, kBroker };

// Why a run does not start. Stored in the detail of a run that waits at its owner or in a queue of
// the message broker, was deferred, or waits for another job, so that users can see the reason.
struct WaitCause {
    WaitReason reason = WaitReason::kLimited;
    // "group:etl", "host:example.com:443"; kDependency: the job's id; kBroker: the broker's queue
    std::string key;
    std::int64_t before = 0;  // number of runs ahead of it
    friend bool operator==(const WaitCause&, const WaitCause&) = default;
};

template <>
struct EnumNames<WaitReason> {
    static constexpr std::array<std::string_view, 4> kNames = {"limited", "breaker_open",
                                                               "dependency", "broker"};
};

}  // namespace ksana::model
