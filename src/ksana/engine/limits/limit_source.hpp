#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/limit.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// The settings keys of limits: "group/etl", "limit/type/mail", "limit/host/a.com:443".
inline constexpr std::string_view kGroupSettings = "group/";
inline constexpr std::string_view kLimitSettings = "limit/";
std::string LimitSettingOf(model::LimitKind kind, std::string_view name);

// The number of limits that a store may hold and a node enforces.
inline constexpr std::size_t kMaxLimits = 10'000;

// Returns the stored limits by LimitTracker key. Logs and skips a limit that cannot be parsed, such
// as one that a newer version wrote. Returns the store's error if it cannot be read.
Result<std::map<std::string, model::Limit>> ReadLimits(store::Store& store);

// The settings by which every node is told to forget the breakers of a host: "breaker/HOST". They
// vanish by themselves after kBreakerResetKept, since what a node forgets is in its memory only.
inline constexpr std::string_view kBreakerSettings = "breaker/";
inline constexpr Duration kBreakerResetKept = std::chrono::hours(1);

// Returns when breakers of which hosts were last reset.
Result<std::map<std::string, TimePoint>> ReadBreakerResets(store::Store& store);

}  // namespace ksana::engine
