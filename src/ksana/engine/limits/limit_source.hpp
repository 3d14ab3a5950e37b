#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/limit.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Where a limit stands among the settings: "group/etl", "limit/type/mail", "limit/host/a.com:443".
inline constexpr std::string_view kGroupSettings = "group/";
inline constexpr std::string_view kLimitSettings = "limit/";
std::string LimitSettingOf(model::LimitKind kind, std::string_view name);

// At most so many are obeyed, and can be made.
inline constexpr std::size_t kMaxLimits = 10'000;

// The limits that people have stored, by the key that LimitTracker knows them by. What cannot be
// read (a newer version wrote it) is told in the log and does not count.
Result<std::map<std::string, model::Limit>> ReadLimits(store::Store& store);

}  // namespace ksana::engine
