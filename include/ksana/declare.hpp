#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include "ksana/base/time/time.hpp"
#include "ksana/injection.hpp"
#include "ksana/job.hpp"
#include "ksana/schedule/cron/cron_parse.hpp"

namespace ksana {

enum class ExecutionMode : std::uint8_t {
    kSingleNode,  // one of all processes that share the lock runs each fire
    kAllNodes,    // every process runs each fire; takes no lock
};

// kLibrary: 5 numeric fields in UTC; both day fields must match. kStandard: also seconds, names, L,
// W, # and @daily, in any zone; either day field matches (docs/schedules.md).
using schedule::CronDialect;

// What happens to fires that could not start on time: none of them runs, the latest runs, or all.
enum class Misfire : std::uint8_t { kSkip, kRunLatest, kRunAll };

// How a failed run is tried again.
struct Retry {
    int max_retries = 0;
    Duration interval = std::chrono::seconds(5);  // before the first retry
    bool exponential = false;                     // doubles the interval with each retry
    Duration max_interval = std::chrono::hours(1);
};

// What KSANA_JOB says about a job. One of `cron` and `fixed_rate` must be given.
struct JobDeclaration {
    std::string_view id = {};
    std::string_view cron = {};
    Duration fixed_rate = {};
    Duration initial_delay = {};  // before the first fire; ignored with cron
    ExecutionMode mode = ExecutionMode::kSingleNode;
    // How long the lock of a run is held at most; 30 s if not given. Must be longer than the job
    // runs, unless the scheduler renews locks.
    std::optional<Duration> lock_ttl = std::nullopt;
    bool enabled = true;
    std::string_view zone = {};  // IANA name; empty: UTC. For the standard dialect
    CronDialect dialect = CronDialect::kLibrary;
    Duration timeout = {};  // after which a run is cancelled; zero: never
    Retry retry = {};
    std::string_view group = {};  // empty: "default"
    Misfire misfire = Misfire::kSkip;
};

inline constexpr Duration kDefaultLockTtl = std::chrono::seconds(30);

namespace detail {

// Never defined: a call in a constant expression fails to compile with a message that has the
// function's name, with every compiler.
void the_id_of_the_job_is_empty();
void the_id_of_the_job_is_longer_than_128_characters();
void the_id_of_the_job_may_have_letters_digits_and_dash_underscore_dot_colon_only();
void the_job_has_neither_cron_nor_fixed_rate();
void the_job_has_both_cron_and_fixed_rate();
void fixed_rate_must_not_be_negative();
void initial_delay_must_not_be_negative();
void lock_ttl_must_be_positive();
void timeout_must_not_be_negative();
void max_retries_must_not_be_negative();
void a_zone_needs_the_standard_dialect();
void the_class_is_neither_a_JobExecutor_nor_a_PlainJob();
void the_class_of_the_job_is_abstract();

constexpr bool IsIdCharacter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == ':';
}

consteval void CheckId(std::string_view id) {
    if (id.empty()) the_id_of_the_job_is_empty();
    if (id.size() > 128) the_id_of_the_job_is_longer_than_128_characters();
    for (const char c : id) {
        if (!IsIdCharacter(c)) {
            the_id_of_the_job_may_have_letters_digits_and_dash_underscore_dot_colon_only();
        }
    }
}

consteval bool CheckDeclaration(const JobDeclaration& job) {
    CheckId(job.id);
    if (job.fixed_rate < Duration::zero()) fixed_rate_must_not_be_negative();
    const bool has_rate = job.fixed_rate > Duration::zero();
    if (!has_rate && job.cron.empty()) the_job_has_neither_cron_nor_fixed_rate();
    if (has_rate && !job.cron.empty()) the_job_has_both_cron_and_fixed_rate();
    if (!job.cron.empty()) schedule::CronLiteral(job.cron, {job.dialect, {}});
    if (job.initial_delay < Duration::zero()) initial_delay_must_not_be_negative();
    if (job.lock_ttl && *job.lock_ttl <= Duration::zero()) lock_ttl_must_be_positive();
    if (job.timeout < Duration::zero()) timeout_must_not_be_negative();
    if (job.retry.max_retries < 0) max_retries_must_not_be_negative();
    if (!job.zone.empty() && job.dialect == CronDialect::kLibrary) {
        a_zone_needs_the_standard_dialect();
    }
    return true;
}

template <class Class>
consteval bool CheckClass() {
    constexpr bool is_job =
        std::is_base_of_v<JobExecutor, Class> || std::is_base_of_v<PlainJob, Class>;
    if (!is_job) the_class_is_neither_a_JobExecutor_nor_a_PlainJob();
    if (is_job && std::is_abstract_v<Class>) the_class_of_the_job_is_abstract();
    return true;
}

template <bool kUnused>
constexpr bool LockTtlIsUsed() {
    return true;
}
template <>
[[deprecated(
    "the job runs on all nodes and takes no lock: its lock_ttl has no effect")]] constexpr bool
LockTtlIsUsed<true>() {
    return true;
}

constexpr bool HasUnusedLockTtl(const JobDeclaration& job) {
    return job.mode == ExecutionMode::kAllNodes && job.lock_ttl.has_value();
}

// A text as a template argument.
template <std::size_t kSize>
struct IdText {
    char text[kSize + 1] = {};

    constexpr explicit IdText(std::string_view from) {
        for (std::size_t n = 0; n < kSize; ++n) text[n] = from[n];
    }
};

// Defined once for each id, by KSANA_JOB: a second job with the same id, in whatever file, is a
// second definition, which the linker refuses.
template <IdText kId>
void JobWithThisIdIsDeclaredTwice();

// A job object; one of the two is set.
struct JobObject {
    std::unique_ptr<JobExecutor> coroutine;
    std::unique_ptr<PlainJob> plain;
};

using JobFactory = JobObject (*)(Context& context);

template <class Class>
JobObject MakeJob(Context& context) {
    JobObject object;
    if constexpr (std::is_base_of_v<JobExecutor, Class>) {
        object.coroutine = Make<Class>(context);
    } else {
        object.plain = Make<Class>(context);
    }
    return object;
}

// One KSANA_JOB. They form a list, to which each adds itself before main; a static object without
// other side effects, so it must be linked: see ksana_add_jobs in docs/library.md.
struct Registration {
    Registration(const JobDeclaration& job, JobFactory make_job) noexcept;
    ~Registration();  // a shared library may be unloaded
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

    const JobDeclaration& declaration;
    const JobFactory factory;
    Registration* next;
};

// The jobs declared in this program; null: none.
const Registration* DeclaredJobs() noexcept;

}  // namespace detail
}  // namespace ksana

#define KSANA_JOB_NAME_INNER(a, b) a##b
#define KSANA_JOB_NAME(a, b) KSANA_JOB_NAME_INNER(a, b)

// Declares a class as a job, at global scope:
//
//   KSANA_JOB(CleanExpiredTokens, .id = "clean-expired-tokens", .cron = "0 3 * * *");
//
// The members are those of ksana::JobDeclaration, in its order. Faults are errors of the compiler;
// equal ids in two files are errors of the linker.
#define KSANA_JOB(Class, ...) \
    KSANA_JOB_WITH(KSANA_JOB_NAME(ksana_job_, __COUNTER__), Class, __VA_ARGS__)

#define KSANA_JOB_WITH(name, Class, ...)                                                        \
    static constexpr ::ksana::JobDeclaration name{__VA_ARGS__};                                 \
    static_assert(::ksana::detail::CheckDeclaration(name));                                     \
    static_assert(::ksana::detail::CheckClass<Class>());                                        \
    static_assert(::ksana::detail::LockTtlIsUsed<::ksana::detail::HasUnusedLockTtl(name)>());   \
    template <>                                                                                 \
    void ::ksana::detail::JobWithThisIdIsDeclaredTwice<::ksana::detail::IdText<name.id.size()>( \
        name.id)>() {}                                                                          \
    static ::ksana::detail::Registration KSANA_JOB_NAME(name, _registration)(                   \
        name, &::ksana::detail::MakeJob<Class>)
