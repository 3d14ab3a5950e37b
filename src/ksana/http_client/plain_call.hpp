#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <optional>
#include <utility>

#include "ksana/base/time.hpp"
#include "ksana/http_client/answer_intake.hpp"
#include "ksana/http_client/inbox.hpp"
#include "ksana/http_client/plain_request.hpp"

namespace ksana::http_client {

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

}  // namespace ksana::http_client
