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

// What KSANA_JOB says about a job. One of `cron` and `fixed_rate` must be given. LockTtl is an
// optional Duration (see JobDeclaration below).
template <class LockTtl>
struct JobDeclarationWith {
    std::string_view id = {};
    std::string_view cron = {};
    Duration fixed_rate = {};
    Duration initial_delay = {};  // before the first fire; ignored with cron
    ExecutionMode mode = ExecutionMode::kSingleNode;
    // How long the lock of a run is held at most; 30 s if not given. Must be longer than the job
    // runs, unless the scheduler renews locks.
    LockTtl lock_ttl = std::nullopt;
    bool enabled = true;
    std::string_view zone = {};  // IANA name; empty: UTC. For the standard dialect
    CronDialect dialect = CronDialect::kLibrary;
    Duration timeout = {};  // after which a run is cancelled; zero: never
    Retry retry = {};
    std::string_view group = {};  // empty: "default"
    Misfire misfire = Misfire::kSkip;
};

using JobDeclaration = JobDeclarationWith<std::optional<Duration>>;

inline constexpr Duration kDefaultLockTtl = std::chrono::seconds(30);
inline constexpr Duration kMaxLockTtl = std::chrono::hours(24 * 30);

namespace detail {

// Never defined: a call in a constant expression fails to compile with a message that has the
// function's name, with every compiler.
void the_id_of_the_job_is_empty();
void the_id_of_the_job_is_longer_than_128_characters();
void the_id_of_the_job_may_have_letters_digits_and_dash_underscore_dot_colon_only();
void the_id_of_the_job_is_neither_a_dot_nor_two_dots();
void the_job_has_neither_cron_nor_fixed_rate();
void the_job_has_both_cron_and_fixed_rate();
void fixed_rate_must_not_be_negative();
void initial_delay_must_not_be_negative();
void lock_ttl_must_be_positive();
void lock_ttl_must_be_at_most_30_days();
void the_intervals_of_retry_must_not_be_negative();
void timeout_must_not_be_negative();
void max_retries_must_not_be_negative();
void a_zone_needs_the_standard_dialect();
void cron_form_is_not_in_this_dialect_it_needs_kStandard();
void cron_needs_5_fields();

constexpr bool IsIdCharacter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == ':';
}

consteval void CheckId(std::string_view id) {
    if (id.empty()) the_id_of_the_job_is_empty();
    if (id == "." || id == "..") the_id_of_the_job_is_neither_a_dot_nor_two_dots();
    if (id.size() > 128) the_id_of_the_job_is_longer_than_128_characters();
    for (const char c : id) {
        if (!IsIdCharacter(c)) {
            the_id_of_the_job_may_have_letters_digits_and_dash_underscore_dot_colon_only();
        }
    }
}

// Tells what is wrong with an expression of the library's dialect in words that help: many faults
// are not faults in the standard dialect.
consteval void CheckCron(std::string_view text, CronDialect dialect) {
    using Kind = schedule::CronFault::Kind;
    const Kind fault = schedule::ParseCronText(text, {dialect, {}}).fault.kind;
    if (dialect == CronDialect::kLibrary && fault != Kind::kNone) {
        const schedule::CronSyntax standard = {CronDialect::kStandard, {}};
        if (schedule::ParseCronText(text, standard).fault.kind == Kind::kNone) {
            cron_form_is_not_in_this_dialect_it_needs_kStandard();
        }
        if (fault == Kind::kTooFewFields || fault == Kind::kTooManyFields) cron_needs_5_fields();
        schedule::CronLiteral(text, standard);
    }
    schedule::CronLiteral(text, {dialect, {}});
}

consteval bool CheckDeclaration(const JobDeclaration& job) {
    CheckId(job.id);
    if (job.fixed_rate < Duration::zero()) fixed_rate_must_not_be_negative();
    const bool has_rate = job.fixed_rate > Duration::zero();
    if (!has_rate && job.cron.empty()) the_job_has_neither_cron_nor_fixed_rate();
    if (has_rate && !job.cron.empty()) the_job_has_both_cron_and_fixed_rate();
    if (!job.cron.empty()) CheckCron(job.cron, job.dialect);
    if (job.initial_delay < Duration::zero()) initial_delay_must_not_be_negative();
    if (job.lock_ttl && *job.lock_ttl <= Duration::zero()) lock_ttl_must_be_positive();
    if (job.lock_ttl && *job.lock_ttl > kMaxLockTtl) lock_ttl_must_be_at_most_30_days();
    if (job.retry.interval < Duration::zero() || job.retry.max_interval < Duration::zero()) {
        the_intervals_of_retry_must_not_be_negative();
    }
    if (job.timeout < Duration::zero()) timeout_must_not_be_negative();
    if (job.retry.max_retries < 0) max_retries_must_not_be_negative();
    if (!job.zone.empty() && job.dialect == CronDialect::kLibrary) {
        a_zone_needs_the_standard_dialect();
    }
    return true;
}

template <class Class>
inline constexpr bool kIsJob =
    std::is_base_of_v<JobExecutor, Class> || std::is_base_of_v<PlainJob, Class>;

// The functions below are true for a class that a check before them refuses, so that a fault has
// one message.
template <class Class>
constexpr bool IsConcrete() {
    return !kIsJob<Class> || !std::is_abstract_v<Class>;
}

template <class Class>
constexpr bool CanBeMade() {
    if constexpr (kIsJob<Class> && IsConcrete<Class>()) {
        return ArgumentCount<Class>() <= kMostArguments;
    } else {
        return true;
    }
}

// The type of lock_ttl where it has no effect. A value is converted to it at the place where the
// user has written it, so that the warning is shown although the macro stands in a header of the
// system.
struct UnusedLockTtl {
    constexpr UnusedLockTtl(std::nullopt_t) {}
    template <class T>
    [[deprecated(
        "the job runs on all nodes and takes no lock: its lock_ttl has no "
        "effect")]] constexpr UnusedLockTtl(const T&) {}
};

constexpr bool HasUnusedLockTtl(const JobDeclaration& job) {
    return job.mode == ExecutionMode::kAllNodes && job.lock_ttl.has_value();
}

template <bool kUnused>
using CheckedDeclaration =
    std::conditional_t<kUnused, JobDeclarationWith<UnusedLockTtl>, JobDeclaration>;

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
    if constexpr (!kIsJob<Class> || !IsConcrete<Class>() || !CanBeMade<Class>()) {
        // KSANA_JOB refuses the class.
    } else if constexpr (std::is_base_of_v<JobExecutor, Class>) {
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

// Only to find out whether KSANA_JOB stands outside of every namespace.
struct KsanaJobScope;

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

#define KSANA_JOB_WITH(name, Class, ...)                                                         \
    struct KsanaJobScope;                                                                        \
    static_assert(::std::is_same_v<KsanaJobScope, ::KsanaJobScope>,                              \
                  "KSANA_JOB must stand outside of every namespace: KSANA_JOB(my::Job, ...)");   \
    static_assert(::ksana::detail::kIsJob<Class>,                                                \
                  "the class " #Class " is neither a ksana::JobExecutor nor a ksana::PlainJob"); \
    static_assert(::ksana::detail::IsConcrete<Class>(),                                          \
                  "the class " #Class " is abstract: it must override Run(ksana::JobContext&)"); \
    static_assert(::ksana::detail::CanBeMade<Class>(),                                           \
                  "the class " #Class                                                            \
                  " needs a public constructor whose parameters are "                            \
                  "references, std::shared_ptrs or a ksana::Logger, at most 12");                \
    static constexpr ::ksana::JobDeclaration name{__VA_ARGS__};                                  \
    static_assert(::ksana::detail::CheckDeclaration(name));                                      \
    [[maybe_unused]] static constexpr ::ksana::detail::CheckedDeclaration<                       \
        ::ksana::detail::HasUnusedLockTtl(name)>                                                 \
        KSANA_JOB_NAME(name, _checked){__VA_ARGS__};                                             \
    template <>                                                                                  \
    void ::ksana::detail::JobWithThisIdIsDeclaredTwice<::ksana::detail::IdText<name.id.size()>(  \
        name.id)>() {}                                                                           \
    static ::ksana::detail::Registration KSANA_JOB_NAME(name, _registration)(                    \
        name, &::ksana::detail::MakeJob<Class>)
