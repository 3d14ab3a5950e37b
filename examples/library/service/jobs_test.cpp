#include <gtest/gtest.h>

#include <ksana/testing.hpp>

#include "jobs.hpp"

using namespace std::chrono_literals;

namespace {

class FakeMailer final : public Mailer {
  public:
    void Send(const std::string& text) override {
        if (broken) throw std::runtime_error("the mail server is down");
        sent.push_back(text);
    }

    bool broken = false;
    std::vector<std::string> sent;
};

// All jobs of the program run here, on a clock that stands still until Advance moves it.
class JobsTest : public testing::Test {
  protected:
    void SetUp() override {
        context_.Bind(orders_);
        context_.Bind<Mailer>(mailer_);
        const auto started = test_.Start();
        ASSERT_TRUE(started) << started.error().Describe();
    }
    std::int64_t Now() {
        const auto since_epoch = test_.clock().Now().time_since_epoch();
        return std::chrono::floor<std::chrono::milliseconds>(since_epoch).count();
    }

    Orders orders_;
    FakeMailer mailer_;
    ksana::Context context_;
    ksana::testing::TestScheduler test_{context_};
};

TEST_F(JobsTest, OrdersAreCancelledAfterAQuarterOfAnHour) {
    orders_.Add(1, Now());
    test_.Advance(20min);
    orders_.Add(2, Now());
    EXPECT_EQ(orders_.CancelUnpaid(Now()), 0);  // the job was there before
    test_.Advance(40min);
    EXPECT_EQ(test_.RunTimesOf("cancel-unpaid-orders").size(), 12);
}

TEST_F(JobsTest, EveryPaidOrderGetsOneReceipt) {
    orders_.Add(7, Now());
    orders_.Pay(7);
    const auto ran = test_.RunOnce("send-receipts");
    ASSERT_TRUE(ran) << ran.error().Describe();
    EXPECT_EQ(ran->result, ksana::JobResult::kSuccess);
    test_.Advance(1h);
    EXPECT_EQ(mailer_.sent, std::vector<std::string>{"receipt of order 7"});
}

TEST_F(JobsTest, ABrokenMailServerIsAFailure) {
    mailer_.broken = true;
    orders_.Add(7, Now());
    orders_.Pay(7);
    const auto ran = test_.RunOnce("send-receipts");
    ASSERT_TRUE(ran) << ran.error().Describe();
    EXPECT_EQ(ran->result, ksana::JobResult::kFailed);
    EXPECT_EQ(ran->error, "the mail server is down");
    mailer_.broken = false;
    test_.Advance(1h);
    EXPECT_EQ(mailer_.sent.size(), 1);
}

}  // namespace
