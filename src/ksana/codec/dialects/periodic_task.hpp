#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/job/job.hpp"

// Periodic tasks in the terms of document T (T-13, T-14): jobs that put a task into the queue.

namespace ksana::codec {

enum class PeriodicStatus : std::uint8_t { kNew, kOnline, kOffline };

// Pause reason of a job that was never online: it tells new from offline.
inline constexpr std::string_view kNeverOnline = "new";

PeriodicStatus PeriodicStatusOf(const model::Job& job);

std::string PeriodicTaskToJson(const model::Job& job);
std::string PeriodicTasksToJson(std::span<const model::Job> jobs);

// Reads a periodic task to create. Its status is new unless the text has one.
Result<model::Job> PeriodicTaskFromJson(std::string_view text);

// Replaces a periodic task. It keeps its status unless the text has one.
Result<void> ReplacePeriodicTask(model::Job& job, std::string_view text);

}  // namespace ksana::codec

template <>
struct ksana::model::EnumNames<ksana::codec::PeriodicStatus> {
    static constexpr std::array<std::string_view, 3> kNames = {"new", "online", "offline"};
};
