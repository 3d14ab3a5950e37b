#pragma once

#include <cstdint>
#include <string>

#include "ksana/model/enum_names.hpp"

namespace ksana::model {

enum class WaitReason : std::uint8_t { kLimited, kBreakerOpen };

// What keeps a run from starting. Stands in the detail of a run that waits at its owner, or that
// was given back for this, so that whoever looks at the run knows it.
struct WaitCause {
    WaitReason reason = WaitReason::kLimited;
    std::string key;          // "group:etl", "host:example.com:443"
    std::int64_t before = 0;  // so many were in front of it
    friend bool operator==(const WaitCause&, const WaitCause&) = default;
};

template <>
struct EnumNames<WaitReason> {
    static constexpr std::array<std::string_view, 2> kNames = {"limited", "breaker_open"};
};

}  // namespace ksana::model
