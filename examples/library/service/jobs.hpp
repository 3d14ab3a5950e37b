#pragma once

#include <ksana/ksana.hpp>

#include "shop.hpp"

// A plain job: an ordinary function. It occupies a thread while it runs.
class CancelUnpaidOrders final : public ksana::PlainJob {
  public:
    // The arguments are found in the ksana::Context by their types.
    explicit CancelUnpaidOrders(Orders& orders) : orders_(orders) {}
    void Run(ksana::JobContext& context) override;

  private:
    Orders& orders_;
};

// A coroutine: it occupies no thread while it sleeps.
class SendReceipts final : public ksana::JobExecutor {
  public:
    SendReceipts(Orders& orders, Mailer& mailer, ksana::Logger logger)
        : orders_(orders), mailer_(mailer), logger_(std::move(logger)) {}
    ksana::Task<> Run(ksana::JobContext& context) override;

  private:
    Orders& orders_;
    Mailer& mailer_;
    ksana::Logger logger_;
};
