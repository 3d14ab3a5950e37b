#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/job/job.hpp"

// Periodic tasks in the words of document T (T-13, T-14): jobs that put a task into the queue.

namespace ksana::codec {

enum class PeriodicStatus : std::uint8_t { kNew, kOnline, kOffline };

// Why a job is paused that was never online: it tells new from offline.
inline constexpr std::string_view kNeverOnline = "new";

PeriodicStatus PeriodicStatusOf(const model::Job& job);

std::string PeriodicTaskToJson(const model::Job& job);
std::string PeriodicTasksToJson(std::span<const model::Job> jobs);

// A periodic task that is sent to be made. It is new unless it says otherwise.
Result<model::Job> PeriodicTaskFromJson(std::string_view text);

// What is sent in the place of the one that is there; it keeps its status unless it says one.
Result<void> ReplacePeriodicTask(model::Job& job, std::string_view text);

}  // namespace ksana::codec

template <>
struct ksana::model::EnumNames<ksana::codec::PeriodicStatus> {
    static constexpr std::array<std::string_view, 3> kNames = {"new", "online", "offline"};
};
