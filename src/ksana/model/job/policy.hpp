#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ksana/base/text/http_method.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/schedule/spec.hpp"

namespace ksana::model {

// What happens to fires that could not start on time.
enum class MisfirePolicy : std::uint8_t { kSkip, kRunLatest, kRunAll };

struct Misfire {
    MisfirePolicy policy = MisfirePolicy::kSkip;
    int max_runs = 100;  // kRunAll: catch up on at most this many, the latest ones
    Duration grace = std::chrono::seconds(5);  // a start this late still counts as on time
    friend bool operator==(const Misfire&, const Misfire&) = default;
};

// What a fire does while an earlier run of the same job is unfinished, anywhere in the cluster.
enum class OverlapPolicy : std::uint8_t { kSkip, kAllow, kQueueOne, kQueueAll, kCancelOther };

enum class RetryStrategy : std::uint8_t { kNone, kFixed, kSequence, kExponential };

struct RetryPolicy {
    RetryStrategy strategy = RetryStrategy::kFixed;
    int max_retries = 3;
    // kFixed: every delay; kExponential: the first delay.
    Duration interval = std::chrono::seconds(5);
    std::vector<Duration> sequence;                 // kSequence: the delays; the last one repeats
    Duration max_interval = std::chrono::hours(1);  // kExponential: the cap of the doubled delays
    // Adds a random share of the delay, up to this fraction, so that runs that failed together are
    // not all retried at the same moment.
    double jitter = 0.0;
    friend bool operator==(const RetryPolicy&, const RetryPolicy&) = default;
};

// What a fire does when the latest run of a job it depends on did not succeed.
enum class OnDependencyFailure : std::uint8_t { kSkip, kWait, kRun };

struct Dependency {
    std::string job_id;
    OnDependencyFailure on_failure = OnDependencyFailure::kSkip;
    friend bool operator==(const Dependency&, const Dependency&) = default;
};

// Which workers run a job. Labels are those of workers and agents; every registered worker also has
// the label `worker`, its name.
struct Placement {
    TextMap require;         // only workers with these
    TextMap prefer;          // these first, for prefer_for
    std::string sticky;      // a key: runs with the same one go to the same worker first
    Duration prefer_for{};   // zero: kPreferFor, or kStickyFor with a key
    bool broadcast = false;  // a fire makes one run for each live worker
    friend bool operator==(const Placement&, const Placement&) = default;
};

inline constexpr Duration kPreferFor = std::chrono::seconds(2);
inline constexpr Duration kStickyFor = std::chrono::seconds(10);

// How much of a job's finished runs is kept (T-14): everything, the run without result and detail,
// or nothing.
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

// The URLs called when a run ends (T-10, T-11). An empty URL means no call.
struct Callbacks {
    Callback success;
    Callback error;
    CallbackSecurity security = CallbackSecurity::kNone;
    std::string access_key;
    std::string secret_key;
    // The old secret during a key rotation: callbacks are then signed with both secrets. Empty:
    // signed with `secret_key` only.
    std::string previous_secret_key;
    friend bool operator==(const Callbacks&, const Callbacks&) = default;
};

// The rules of a run, copied when the run is made: later edits of its job or type do not affect it.
struct RunPolicy {
    RetryPolicy retry;
    Duration timeout = std::chrono::seconds(10);
    Duration stop_grace{};  // time after the timeout before the reaper takes the run from its owner
    OverlapPolicy overlap = OverlapPolicy::kAllow;
    // Starts despite unfinished runs of its job; others still wait for it.
    bool ignores_overlap = false;
    RunLog run_log = RunLog::kFull;
    // Exhausted retries and permanent failures lead to `held` instead of `failed`.
    bool need_manual = false;
    bool success_callback = false;  // the type has a URL for it
    bool error_callback = false;
    // Starts only when the latest runs of the jobs that its job depends on have succeeded. Which
    // jobs these are is read from the job at that time.
    bool depends = false;
    Duration max_wait{};  // how long it waits for them; 0 unless `depends`
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
    static constexpr std::array<std::string_view, 4> kNames = {"once", "every", "cron", "after"};
};
template <>
struct EnumNames<schedule::AfterOn> {
    static constexpr std::array<std::string_view, 3> kNames = {"success", "failure", "any"};
};
template <>
struct EnumNames<schedule::AfterJoin> {
    static constexpr std::array<std::string_view, 2> kNames = {"all", "each"};
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
