#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "ksana/base/time/clock.hpp"
#include "ksana/http_client/client.hpp"
#include "support/raw_server.hpp"

// For the tests of the module.

namespace ksana::http_client {

using testing::RawPeer;
using testing::RawRequest;
using testing::RawServer;

// Keeps the answers of calls until somebody asks for them.
class Answers {
  public:
    CallDone Slot(int number) {
        return [this, number](CallAnswer answer) {
            const std::lock_guard lock(mutex_);
            EXPECT_TRUE(answers_.emplace(number, std::move(answer)).second) << "called twice";
            changed_.notify_all();
        };
    }

    CallAnswer Await(int number) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return answers_.count(number) > 0; });
        return answers_.at(number);
    }

    std::map<int, CallAnswer> AwaitAll(std::size_t count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return answers_.size() >= count; });
        return answers_;
    }

    std::size_t size() {
        const std::lock_guard lock(mutex_);
        return answers_.size();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<int, CallAnswer> answers_;  // guarded by mutex_
};

// A flag that one thread raises and another waits for.
class Signal {
  public:
    void Raise() {
        const std::lock_guard lock(mutex_);
        raised_ = true;
        changed_.notify_all();
    }
    void Await() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return raised_; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool raised_ = false;  // guarded by mutex_
};

enum class Way { kPlain, kLibcurl };

inline ClientOptions OptionsFor(Way way) { return {.plain_path = way == Way::kPlain}; }

inline std::string NameOfWay(const ::testing::TestParamInfo<Way>& info) {
    return info.param == Way::kPlain ? "Plain" : "Libcurl";
}

// Every test of it runs twice: calls mean the same whichever way they go.
class ClientTest : public ::testing::TestWithParam<Way> {
  protected:
    void SetUp() override { ASSERT_TRUE(client_.Start()); }

    // Sends and waits for the answer.
    CallAnswer Call(CallRequest request) {
        Answers answers;
        client_.Send(std::move(request), answers.Slot(0));
        return answers.Await(0);
    }

    SystemClock clock_;
    Client client_{OptionsFor(GetParam()), clock_};
};

}  // namespace ksana::http_client
