// The program of the page that the library was ordered with, with small bodies for what it leaves
// out: it must compile as it is written there. header_cases.py compiles it with every compiler and
// language version; tests/install/library_cases.py links it with the installed library and runs it.

#include "ksana/ksana.hpp"

#include <atomic>
#include <iostream>

using namespace std::chrono_literals;

class TokenService {
  public:
    int DeleteExpired() { return ++deleted_; }

  private:
    std::atomic<int> deleted_ = 0;
};

class CleanExpiredTokens final : public ksana::JobExecutor {  // a coroutine
  public:
    CleanExpiredTokens(TokenService& tokens, ksana::Logger logger);  // found in the context by type
    ksana::Task<> Run(ksana::JobContext& context) override {
        const int count = tokens_.DeleteExpired();
        co_await context.Sleep(10ms);  // ends early when cancelled
        context.logger().Info("cleaned", {{"count", count}});
    }

  private:
    TokenService& tokens_;
    ksana::Logger logger_;
};
KSANA_JOB(CleanExpiredTokens, .id = "clean-expired-tokens", .cron = "0 3 * * *", .lock_ttl = 60s);

class Beat final : public ksana::PlainJob {  // a plain function
    void Run(ksana::JobContext& context) override;
};
KSANA_JOB(Beat, .id = "beat", .fixed_rate = 200ms, .initial_delay = 50ms,
          .mode = ksana::ExecutionMode::kAllNodes);

CleanExpiredTokens::CleanExpiredTokens(TokenService& tokens, ksana::Logger logger)
    : tokens_(tokens), logger_(std::move(logger)) {}

void Beat::Run(ksana::JobContext& context) { context.logger().Info("beat"); }

int main() {
    TokenService tokens;
    ksana::Context context;
    context.Bind(tokens);
    ksana::Scheduler scheduler(context,
                               {.config = "config/jobs.conf", .lock = "redis://127.0.0.1:6379"});
    if (auto started = scheduler.Start(); !started) {
        std::cerr << started.error().Describe() << '\n';
        return 1;
    }
    auto triggered =
        scheduler.Trigger("clean-expired-tokens");  // Result<void>; unknown id: an error
    for (const ksana::JobStatus& job : scheduler.Snapshot())
        std::cout << job.id << ' ' << job.run_count << '\n';
    scheduler.Shutdown(30s);
}
