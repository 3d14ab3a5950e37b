// A file of a program that uses the library: ten declared jobs. `./dev bench library` measures how
// long it takes to compile.
#include "ksana/ksana.hpp"

namespace {

struct Orders {
    int open = 0;
};

class CloseOrders final : public ksana::JobExecutor {
  public:
    CloseOrders(Orders& orders, ksana::Logger logger)
        : orders_(orders), logger_(std::move(logger)) {}
    ksana::Task<> Run(ksana::JobContext& context) override {
        co_await context.Sleep(std::chrono::milliseconds(10));
        orders_.open = 0;
        logger_.Info("closed");
    }

  private:
    Orders& orders_;
    ksana::Logger logger_;
};

class CountOrders final : public ksana::PlainJob {
  public:
    explicit CountOrders(Orders& orders) : orders_(orders) {}
    void Run(ksana::JobContext& context) override {
        context.logger().Info("open", {{"count", orders_.open}});
    }

  private:
    Orders& orders_;
};

}  // namespace

using std::chrono::minutes;
using std::chrono::seconds;

KSANA_JOB(CloseOrders, .id = "close-a", .cron = "0 3 * * *");
KSANA_JOB(CloseOrders, .id = "close-b", .cron = "*/5 * * * *", .lock_ttl = minutes(2));
KSANA_JOB(CloseOrders, .id = "close-c", .cron = "0 0 1 * *", .timeout = seconds(30));
KSANA_JOB(CloseOrders, .id = "close-d", .fixed_rate = minutes(5));
KSANA_JOB(CloseOrders, .id = "close-e", .fixed_rate = seconds(10), .initial_delay = seconds(1));
KSANA_JOB(CountOrders, .id = "count-a", .cron = "15 4 * * 1-5");
KSANA_JOB(CountOrders, .id = "count-b", .cron = "0 */2 * * *",
          .mode = ksana::ExecutionMode::kAllNodes);
KSANA_JOB(CountOrders, .id = "count-c", .cron = "30 1 1 1,7 *", .enabled = false);
KSANA_JOB(CountOrders, .id = "count-d", .fixed_rate = seconds(1),
          .mode = ksana::ExecutionMode::kAllNodes);
KSANA_JOB(CountOrders, .id = "count-e", .cron = "0 9 * * MON", .zone = "Europe/Berlin",
          .dialect = ksana::CronDialect::kStandard);

int main(int argc, char** argv) {
    Orders orders;
    return ksana::RunJobs(argc, argv, [&](ksana::Context& context) { context.Bind(orders); });
}
