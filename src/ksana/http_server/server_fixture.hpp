#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/http_server/server.hpp"
#include "support/raw_client.hpp"

namespace ksana::http_server {

// A flag that one thread sets and another waits for. Thread-safe.
class Signal {
  public:
    void Set() {
        const MutexLock lock(mutex_);
        set_ = true;
        changed_.NotifyAll();
    }
    // Returns false if the flag is not set within twenty seconds.
    bool Wait() {
        MutexLock lock(mutex_);
        return changed_.WaitFor(lock, std::chrono::seconds(20),
                                [this]() KSANA_REQUIRES(mutex_) { return set_; });
    }

  private:
    Mutex mutex_;
    CondVar changed_;
    bool set_ KSANA_GUARDED_BY(mutex_) = false;
};

inline std::string Get(std::string_view path, std::string_view more = "") {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: test\r\n" + std::string(more) + "\r\n";
}

inline std::string Post(std::string_view path, std::string_view body) {
    return "POST " + std::string(path) +
           " HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + std::string(body);
}

// A server with a few routes. A test adds its own before Start.
class ServerTest : public ::testing::Test {
  protected:
    ServerTest() {
        router_.Add({HttpMethod::kGet, "/hello", Permission::kPublic, "Greets.", Where::kInline,
                     [](const Request&) { return TextResponse(200, "hello"); }});
        router_.Add({HttpMethod::kGet, "/pool", Permission::kPublic, "Greets from the pool.",
                     Where::kPool, [](const Request&) { return TextResponse(200, "pool"); }});
        router_.Add({HttpMethod::kPost, "/echo", Permission::kPublic, "Gives the body back.",
                     Where::kInline,
                     [](const Request& request) { return TextResponse(200, request.body); }});
        options_.pool_threads = 2;
    }

    Server& Start() {
        server_ = std::make_unique<Server>(options_, std::move(router_), clock_, random_);
        const auto started = server_->Start();
        EXPECT_TRUE(started) << started.error().Describe();
        return *server_;
    }
    testing::RawClient Client(int receive_buffer = 0) {
        return testing::RawClient(server_->port(), receive_buffer);
    }
    testing::RawAnswer Ask(std::string_view request) {
        testing::RawClient client = Client();
        return client.Ask(request);
    }

    SystemClock clock_;
    SystemRandom random_;
    ServerOptions options_;
    Router router_;
    std::unique_ptr<Server> server_;
};

}  // namespace ksana::http_server
