// declaration_cases.py compiles this file once for each case. The compiler must reject every case
// but CASE_none, and CASE_lock_ttl_on_all_nodes with a warning only.

#include "ksana/ksana.hpp"

using namespace std::chrono_literals;

struct Service {};

class Job final : public ksana::PlainJob {
  public:
    explicit Job(Service& service) : service_(service) {}
    void Run(ksana::JobContext& context) override { context.logger().Info("ran"); }

  private:
    [[maybe_unused]] Service& service_;
};

// Has no function Run.
class AbstractJob : public ksana::PlainJob {};
// A function Run makes no job.
struct NoJob {
    void Run(ksana::JobContext&) {}
};
// Services are shared, so they cannot be moved from.
class MovingJob final : public ksana::PlainJob {
  public:
    explicit MovingJob(Service&&) {}
    void Run(ksana::JobContext&) override {}
};
class PrivateJob final : public ksana::PlainJob {
    PrivateJob() = default;
    void Run(ksana::JobContext&) override {}
};

#if defined(CASE_none)
KSANA_JOB(Job, .id = "a.b:c-d_E9", .cron = "*/5 0-6,22 1 * 1-5", .lock_ttl = 1us);
#elif defined(CASE_no_id)
KSANA_JOB(Job, .cron = "0 3 * * *");
#elif defined(CASE_empty_id)
KSANA_JOB(Job, .id = "", .cron = "0 3 * * *");
#elif defined(CASE_bad_id)
KSANA_JOB(Job, .id = "clean tokens", .cron = "0 3 * * *");
#elif defined(CASE_dots_id)
KSANA_JOB(Job, .id = "..", .cron = "0 3 * * *");
#elif defined(CASE_long_id)
#define TEN "1234567890"
KSANA_JOB(Job, .id = TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN, .cron = "0 3 * * *");
#elif defined(CASE_no_schedule)
KSANA_JOB(Job, .id = "job", .lock_ttl = 60s);
#elif defined(CASE_two_schedules)
KSANA_JOB(Job, .id = "job", .cron = "0 3 * * *", .fixed_rate = 10s);
#elif defined(CASE_negative_rate)
KSANA_JOB(Job, .id = "job", .fixed_rate = -10s);
#elif defined(CASE_negative_delay)
KSANA_JOB(Job, .id = "job", .fixed_rate = 10s, .initial_delay = -1s);
#elif defined(CASE_cron_malformed)
KSANA_JOB(Job, .id = "job", .cron = "1,,2 3 * * *");
#elif defined(CASE_cron_range)
KSANA_JOB(Job, .id = "job", .cron = "0 25 * * *");
#elif defined(CASE_cron_four_fields)
KSANA_JOB(Job, .id = "job", .cron = "0 3 * *");
#elif defined(CASE_cron_six_fields)
KSANA_JOB(Job, .id = "job", .cron = "0 0 3 * * *");
#elif defined(CASE_cron_last_day)
KSANA_JOB(Job, .id = "job", .cron = "0 3 L * *");
#elif defined(CASE_cron_name)
KSANA_JOB(Job, .id = "job", .cron = "0 3 * * MON");
#elif defined(CASE_cron_macro)
KSANA_JOB(Job, .id = "job", .cron = "@daily");
#elif defined(CASE_cron_never)
KSANA_JOB(Job, .id = "job", .cron = "0 3 30 2 *");
#elif defined(CASE_zero_ttl)
KSANA_JOB(Job, .id = "job", .cron = "0 3 * * *", .lock_ttl = 0s);
#elif defined(CASE_negative_ttl)
KSANA_JOB(Job, .id = "job", .cron = "0 3 * * *", .lock_ttl = -1s);
#elif defined(CASE_no_job)
KSANA_JOB(NoJob, .id = "job", .cron = "0 3 * * *");
#elif defined(CASE_abstract)
KSANA_JOB(AbstractJob, .id = "job", .cron = "0 3 * * *");
#elif defined(CASE_constructor)
KSANA_JOB(MovingJob, .id = "job", .cron = "0 3 * * *");
#elif defined(CASE_private_constructor)
KSANA_JOB(PrivateJob, .id = "job", .cron = "0 3 * * *");
#elif defined(CASE_zone)
KSANA_JOB(Job, .id = "job", .cron = "0 3 * * *", .zone = "Europe/Berlin");
#elif defined(CASE_negative_timeout)
KSANA_JOB(Job, .id = "job", .cron = "0 3 * * *", .timeout = -1s);
#elif defined(CASE_negative_retries)
KSANA_JOB(Job, .id = "job", .cron = "0 3 * * *", .retry = {.max_retries = -1});
#elif defined(CASE_equal_ids)
class Other final : public ksana::PlainJob {
  public:
    void Run(ksana::JobContext&) override {}
};
KSANA_JOB(Job, .id = "job", .cron = "0 3 * * *");
KSANA_JOB(Other, .id = "job", .cron = "0 4 * * *");
#elif defined(CASE_namespace)
namespace my {
KSANA_JOB(Job, .id = "job", .cron = "0 3 * * *");
}
#elif defined(CASE_lock_ttl_on_all_nodes)
KSANA_JOB(Job, .id = "job", .cron = "0 3 * * *", .mode = ksana::ExecutionMode::kAllNodes,
          .lock_ttl = 60s);
#endif
