#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "ksana/base/time/time.hpp"
#include "ksana/http_client/answer_collector.hpp"
#include "ksana/http_client/inbox.hpp"
#include "ksana/http_client/plain/plain_request.hpp"

namespace ksana::http_client {

// A connection older than this is not reused, so that changed names and drained servers are
// noticed.
inline constexpr std::chrono::seconds kMaxConnectionLife{600};

// A connection idle for longer than this is not reused: a firewall or NAT on the way may have
// dropped its state.
inline constexpr std::chrono::seconds kLongestIdle{118};

class PlainConnection;
struct PlainHost;

// A call that goes without libcurl. Owned by MultiLoop. It must not move: its members, its
// connection and its host's queue refer to it. Client's thread only.
struct PlainCall {
    enum class State : std::uint8_t {
        kWaiting,   // in its host's queue, for a free connection
        kInFlight,  // on a connection, which may still be connecting
        kEnded,     // `answer` is complete
        kRefused,   // not possible without libcurl; MultiLoop makes it a Transfer
    };

    PlainCall(Submission submission, SteadyPoint now)
        : id(submission.id),
          request(std::move(submission.request)),
          done(std::move(submission.done)),
          message(std::move(*submission.plain)),
          begun(now) {}
    PlainCall(const PlainCall&) = delete;
    PlainCall& operator=(const PlainCall&) = delete;

    bool IsOver() const { return state == State::kEnded || state == State::kRefused; }

    // Returns the time since the call began; at least 1 µs, as zero means "not reached" in
    // CallTimings.
    Duration Elapsed(SteadyPoint now) const {
        const auto elapsed = std::chrono::duration_cast<Duration>(now - begun);
        return std::max(elapsed, Duration(1));
    }

    const CallId id;
    // If the host is an IP address, without the parts that `message` holds.
    CallRequest request;
    CallDone done;
    const PlainRequest message;
    const SteadyPoint begun;

    CallAnswer answer;
    AnswerCollector intake{request, answer};
    State state = State::kInFlight;
    bool resent = false;
    PlainConnection* connection = nullptr;
    // Valid in state kWaiting: the host, and the place in its queue.
    PlainHost* host = nullptr;
    std::list<PlainCall*>::iterator place;
};

class PlainConnection;

// The connections to one host and port, and the calls that wait for a free one. Owned by PlainPool.
struct PlainHost {
    std::size_t open = 0;                // connections, including those still connecting
    std::vector<PlainConnection*> idle;  // the most recently used last
    std::list<PlainCall*> waiting;       // in order of arrival

    bool Empty() const { return open == 0 && waiting.empty(); }
};

}  // namespace ksana::http_client
