#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ksana/base/error/error.hpp"
#include "ksana/base/text/http_method.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::worker {

struct WireCall {
    HttpMethod method = HttpMethod::kPost;
    std::string path;  // "/api/v1/agent/claim"
    std::string body;  // JSON; empty: none
    Duration timeout = std::chrono::seconds(30);
};

struct WireAnswer {
    std::optional<Error> error;  // none: the server has accepted the call
    int status = 0;              // 0: no answer
    codec::Json json;            // null without a body
    Duration pause{};            // after an error: how long to wait before the next try
};

// The way to the servers: sends each call to one of them, and turns to the next when one is away.
// The loop of a worker uses it; tests have a scripted one. Thread-safe.
class Wire {
  public:
    using CallId = std::uint64_t;
    using Done = std::function<void(WireAnswer)>;

    virtual ~Wire() = default;

    // Returns at once. `done` is called exactly once, on any thread, also after Cancel.
    virtual CallId Send(WireCall call, Done done) = 0;
    virtual void Cancel(CallId id) = 0;
    // The present server is about to stop: the next calls go to another one, if there is one.
    virtual void Leave() = 0;
    // Counts the changes of the server. A poll that was sent at a lower count waits at a server
    // that was left.
    virtual std::uint64_t turns() const = 0;
    // Whether the last call that ended was answered.
    virtual bool reachable() const = 0;
    virtual std::string server() const = 0;  // the present one, for the log
};

}  // namespace ksana::worker
