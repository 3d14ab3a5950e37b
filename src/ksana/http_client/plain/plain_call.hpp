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
#include "ksana/http_client/answer_intake.hpp"
#include "ksana/http_client/inbox.hpp"
#include "ksana/http_client/plain/plain_request.hpp"

namespace ksana::http_client {

// A connection is not used again after this, so that changed names and drained servers are noticed.
inline constexpr std::chrono::seconds kMaxConnectionLife{600};

// Nor when nothing went over it for so long: what is between us and the host may have forgotten it.
inline constexpr std::chrono::seconds kLongestIdle{118};

class PlainConnection;
struct PlainHost;

// A call that goes without libcurl. Stays where it is made: its parts know each other.
struct PlainCall {
    enum class State : std::uint8_t {
        kWaiting,   // for a connection
        kOnItsWay,  // has a connection, which may still be made
        kEnded,     // `answer` is complete
        kRefused,   // it is one for libcurl after all
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

    // Since it began; never zero, which means "not reached".
    Duration Elapsed(SteadyPoint now) const {
        const auto elapsed = std::chrono::duration_cast<Duration>(now - begun);
        return std::max(elapsed, Duration(1));
    }

    const CallId id;
    CallRequest request;  // without what is in `message`, where its host is an address
    CallDone done;
    const PlainRequest message;
    const SteadyPoint begun;

    CallAnswer answer;
    AnswerIntake intake{request, answer};
    State state = State::kOnItsWay;
    bool sent_once_more = false;
    PlainConnection* connection = nullptr;
    PlainHost* host = nullptr;              // where it waits
    std::list<PlainCall*>::iterator place;  // in that host's queue
};

class PlainConnection;

// The connections to one host and port, and the calls that wait for one.
struct PlainHost {
    std::size_t open = 0;                // connections, those that are being made included
    std::vector<PlainConnection*> idle;  // the last one was used last
    std::list<PlainCall*> waiting;       // in the order in which they came

    bool Empty() const { return open == 0 && waiting.empty(); }
};

}  // namespace ksana::http_client
