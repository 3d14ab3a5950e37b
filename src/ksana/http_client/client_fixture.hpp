#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/http_client/client.hpp"
#include "support/raw_server.hpp"

// Helpers for the tests of this module.

namespace ksana::http_client {

using testing::RawPeer;
using testing::RawRequest;
using testing::RawServer;

// Collects the answers of calls by number. Thread-safe.
class Answers {
  public:
    CallDone Slot(int number) {
        return [this, number](CallAnswer answer) {
            const MutexLock lock(mutex_);
            EXPECT_TRUE(answers_.emplace(number, std::move(answer)).second) << "called twice";
            changed_.NotifyAll();
        };
    }

    CallAnswer Await(int number) {
        MutexLock lock(mutex_);
        changed_.Wait(lock, [&]() KSANA_REQUIRES(mutex_) { return answers_.count(number) > 0; });
        return answers_.at(number);
    }

    std::map<int, CallAnswer> AwaitAll(std::size_t count) {
        MutexLock lock(mutex_);
        changed_.Wait(lock, [&]() KSANA_REQUIRES(mutex_) { return answers_.size() >= count; });
        return answers_;
    }

    std::size_t size() {
        const MutexLock lock(mutex_);
        return answers_.size();
    }

  private:
    Mutex mutex_;
    CondVar changed_;
    std::map<int, CallAnswer> answers_ KSANA_GUARDED_BY(mutex_);
};

// A flag that one thread raises and another waits for. Thread-safe.
class Signal {
  public:
    void Raise() {
        const MutexLock lock(mutex_);
        raised_ = true;
        changed_.NotifyAll();
    }
    void Await() {
        MutexLock lock(mutex_);
        changed_.Wait(lock, [this]() KSANA_REQUIRES(mutex_) { return raised_; });
    }

  private:
    Mutex mutex_;
    CondVar changed_;
    bool raised_ KSANA_GUARDED_BY(mutex_) = false;
};

enum class Way { kPlain, kLibcurl };

inline ClientOptions OptionsFor(Way way) { return {.plain_path = way == Way::kPlain}; }

inline std::string NameOfWay(const ::testing::TestParamInfo<Way>& info) {
    return info.param == Way::kPlain ? "Plain" : "Libcurl";
}

// Runs every test twice, with the plain path and with libcurl, and expects the same results.
class ClientTest : public ::testing::TestWithParam<Way> {
  protected:
    void SetUp() override { ASSERT_TRUE(client_.Start()); }

    // Sends a call and waits for its answer.
    CallAnswer Call(CallRequest request) {
        Answers answers;
        client_.Send(std::move(request), answers.Slot(0));
        return answers.Await(0);
    }

    SystemClock clock_;
    Client client_{OptionsFor(GetParam()), clock_};
};

}  // namespace ksana::http_client
