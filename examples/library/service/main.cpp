#include <iostream>

#include <ksana/ksana.hpp>

#include "shop.hpp"

// Is told of every run; a place for alarms and measurements.
class Alarm final : public ksana::JobExecutionListener {
  public:
    void OnFailure(const std::string& id, std::int64_t /*fire_time*/, std::int64_t duration_ms,
                   const std::string& error) override {
        std::cerr << "ALARM: " << id << " failed after " << duration_ms << " ms: " << error
                  << std::endl;
    }
};

int main(int argc, char** argv) {
    Orders orders;
    orders.Add(1, 0);  // somebody forgot to pay, long ago
    orders.Add(2, 0);
    orders.Pay(2);
    ConsoleMailer mailer;
    Alarm alarm;

    // Options on the command line, as --http 127.0.0.1:8000, take precedence.
    return ksana::RunJobs(argc, argv,
                          [&](ksana::Context& context) {
                              context.Bind(orders);
                              context.Bind<Mailer>(mailer);  // for jobs that ask for a Mailer
                          },
                          {.config = "jobs.conf",
                           .listener = &alarm,
                           .store = "sqlite:app.db",  // keeps the history over restarts
                           .http = "127.0.0.1:7200"});
}
