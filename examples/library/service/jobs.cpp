#include "jobs.hpp"

using namespace std::chrono_literals;

void CancelUnpaidOrders::Run(ksana::JobContext& context) {
    // fire_time is the time that the schedule decided on. Unlike the time of the clock it is the
    // same if the run is late or tried again, and in tests.
    const std::int64_t quarter_of_an_hour = std::chrono::milliseconds(15min).count();
    const int count = orders_.CancelUnpaid(context.fire_time() - quarter_of_an_hour);
    context.logger().Info("cancelled unpaid orders", {{"count", count}});
}
KSANA_JOB(CancelUnpaidOrders, .id = "cancel-unpaid-orders", .cron = "*/5 * * * *");

ksana::Task<> SendReceipts::Run(ksana::JobContext& context) {
    for (const int number : orders_.WithoutReceipt()) {
        // The mailer waits for a server, so it must not occupy one of the threads that run jobs.
        const auto send = [&] { mailer_.Send("receipt of order " + std::to_string(number)); };
        co_await context.Blocking(send);  // throws if it fails; then the run is tried again
        orders_.SetReceiptSent(number);
        // Not too many mails at once. Ends early when the program is shutting down.
        co_await context.Sleep(50ms);
    }
    logger_.Debug("sent all receipts");
}
KSANA_JOB(SendReceipts, .id = "send-receipts", .fixed_rate = 10s, .lock_ttl = 60s, .timeout = 30s,
          .retry = {.max_retries = 2, .interval = 1s});
