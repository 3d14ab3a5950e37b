#pragma once

#include <cstdint>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

// The services of the shop. Ordinary classes: they know nothing of jobs. Jobs run on several
// threads, so services that jobs share are thread-safe.

class Orders {
  public:
    void Add(int number, std::int64_t time_ms) {
        const std::lock_guard lock(mutex_);
        unpaid_[number] = time_ms;
    }

    void Pay(int number) {
        const std::lock_guard lock(mutex_);
        if (unpaid_.erase(number) > 0) without_receipt_.insert(number);
    }

    // Cancels the unpaid orders from before this time, and returns how many there were.
    int CancelUnpaid(std::int64_t before_ms) {
        const std::lock_guard lock(mutex_);
        return static_cast<int>(
            std::erase_if(unpaid_, [&](const auto& order) { return order.second < before_ms; }));
    }

    std::vector<int> WithoutReceipt() {
        const std::lock_guard lock(mutex_);
        return {without_receipt_.begin(), without_receipt_.end()};
    }

    void SetReceiptSent(int number) {
        const std::lock_guard lock(mutex_);
        without_receipt_.erase(number);
    }

  private:
    std::mutex mutex_;
    std::map<int, std::int64_t> unpaid_;  // number and time
    std::set<int> without_receipt_;
};

// An interface, so that a test can have another one.
class Mailer {
  public:
    virtual ~Mailer() = default;
    // Waits for the mail server.
    virtual void Send(const std::string& text) = 0;
};

class ConsoleMailer final : public Mailer {
  public:
    void Send(const std::string& text) override { std::cout << "mail: " << text << std::endl; }
};
