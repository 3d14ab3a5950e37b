#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ksana/base/text/http_method.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/schedule/spec.hpp"

namespace ksana::model {

// What becomes of fires that could not happen on time.
enum class MisfirePolicy : std::uint8_t { kSkip, kRunLatest, kRunAll };

struct Misfire {
    MisfirePolicy policy = MisfirePolicy::kSkip;
    int max_runs = 100;                        // kRunAll: only the latest so many
    Duration grace = std::chrono::seconds(5);  // this late still counts as on time
    friend bool operator==(const Misfire&, const Misfire&) = default;
};

// What a fire does while an earlier run of the same job is not finished, over the whole cluster.
enum class OverlapPolicy : std::uint8_t { kSkip, kAllow, kQueueOne, kQueueAll, kCancelOther };

enum class RetryStrategy : std::uint8_t { kNone, kFixed, kSequence, kExponential };

struct RetryPolicy {
    RetryStrategy strategy = RetryStrategy::kFixed;
    int max_retries = 3;
    Duration interval = std::chrono::seconds(5);    // kFixed: always; kExponential: the first
    std::vector<Duration> sequence;                 // kSequence: the last one repeats
    Duration max_interval = std::chrono::hours(1);  // kExponential: doubles up to this
    // Adds up to this share of the delay, so that failures of one moment do not return as a wave.
    double jitter = 0.0;
    friend bool operator==(const RetryPolicy&, const RetryPolicy&) = default;
};

// What a fire does when a job it depends on did not succeed the last time.
enum class OnDependencyFailure : std::uint8_t { kSkip, kWait, kRun };

struct Dependency {
    std::string job_id;
    OnDependencyFailure on_failure = OnDependencyFailure::kSkip;
    friend bool operator==(const Dependency&, const Dependency&) = default;
};

// How much of a job's runs is kept (T-14): everything, that they started, or nothing.
enum class RunLog : std::uint8_t { kFull, kTrigger, kNone };

// The two HTTP methods that a callback may use.
enum class CallbackMethod : std::uint8_t { kPost, kPut };

constexpr HttpMethod MethodOf(CallbackMethod method) {
    return method == CallbackMethod::kPut ? HttpMethod::kPut : HttpMethod::kPost;
}

enum class CallbackSecurity : std::uint8_t { kNone, kAkSk };

struct Callback {
    std::string url;
    CallbackMethod method = CallbackMethod::kPost;
    friend bool operator==(const Callback&, const Callback&) = default;
};

// Who is told of a run's end (T-10, T-11). An empty URL: nobody.
struct Callbacks {
    Callback success;
    Callback error;
    CallbackSecurity security = CallbackSecurity::kNone;
    std::string access_key;
    std::string secret_key;
    // While receivers change over from one to the other, both sign; empty: only the first.
    std::string previous_secret_key;
    friend bool operator==(const Callbacks&, const Callbacks&) = default;
};

// The rules a run lives by, frozen when it is made: a later edit of its job or type does not change
// what was promised for it.
struct RunPolicy {
    RetryPolicy retry;
    Duration timeout = std::chrono::seconds(10);
    Duration stop_grace{};  // past the timeout, before the reaper takes the run from its owner
    OverlapPolicy overlap = OverlapPolicy::kAllow;
    bool ignores_overlap = false;  // starts whatever else is under way; others still wait for it
    RunLog run_log = RunLog::kFull;
    bool need_manual = false;
    bool success_callback = false;  // somebody wants to be told
    bool error_callback = false;
    friend bool operator==(const RunPolicy&, const RunPolicy&) = default;
};

inline constexpr int kMinPriority = 0;
inline constexpr int kMaxPriority = 9;
inline constexpr int kDefaultPriority = 5;

template <>
struct EnumNames<MisfirePolicy> {
    static constexpr std::array<std::string_view, 3> kNames = {"skip", "run_latest", "run_all"};
};
template <>
struct EnumNames<OverlapPolicy> {
    static constexpr std::array<std::string_view, 5> kNames = {"skip", "allow", "queue_one",
                                                               "queue_all", "cancel_other"};
};
template <>
struct EnumNames<RetryStrategy> {
    static constexpr std::array<std::string_view, 4> kNames = {"none", "fixed", "sequence",
                                                               "exponential"};
};
template <>
struct EnumNames<OnDependencyFailure> {
    static constexpr std::array<std::string_view, 3> kNames = {"skip", "wait", "run"};
};
template <>
struct EnumNames<RunLog> {
    static constexpr std::array<std::string_view, 3> kNames = {"full", "trigger", "none"};
};
template <>
struct EnumNames<CallbackMethod> {
    static constexpr std::array<std::string_view, 2> kNames = {ksana::NameOf(HttpMethod::kPost),
                                                               ksana::NameOf(HttpMethod::kPut)};
};
template <>
struct EnumNames<CallbackSecurity> {
    static constexpr std::array<std::string_view, 2> kNames = {"none", "aksk"};
};
template <>
struct EnumNames<schedule::ScheduleKind> {
    static constexpr std::array<std::string_view, 3> kNames = {"once", "every", "cron"};
};
template <>
struct EnumNames<schedule::CronDialect> {
    static constexpr std::array<std::string_view, 2> kNames = {"standard", "library"};
};
template <>
struct EnumNames<schedule::DayMatch> {
    static constexpr std::array<std::string_view, 2> kNames = {"or", "and"};
};
template <>
struct EnumNames<schedule::GapPolicy> {
    static constexpr std::array<std::string_view, 2> kNames = {"run_after", "skip"};
};
template <>
struct EnumNames<schedule::FoldPolicy> {
    static constexpr std::array<std::string_view, 3> kNames = {"first", "second", "both"};
};

}  // namespace ksana::model
