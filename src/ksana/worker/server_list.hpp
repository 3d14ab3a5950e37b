#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana::worker {

// The servers of a worker, and which of them it calls now. One that does not answer is left for the
// next one at once; when none of them answers, pauses grow to 15 seconds, with jitter so that
// workers do not come back together. Not thread-safe: HttpWire has the lock.
class ServerList {
  public:
    // Splits "URL,URL". kInvalidArgument names a part that is no URL.
    static Result<ServerList> Parse(std::string_view text);

    const std::string& current() const { return urls_[current_]; }
    std::size_t index() const { return current_; }
    std::uint64_t turns() const { return turns_; }
    bool reachable() const { return failures_ == 0; }

    void NoteAnswer(std::size_t of);
    // Notes that a call to this server failed, and returns the pause before the next try. The
    // failure of a server that was left already changes nothing.
    Duration NoteFailure(std::size_t of, Random& random);
    // Turns to the next server, which counts as no failure.
    void Leave();

  private:
    explicit ServerList(std::vector<std::string> urls) : urls_(std::move(urls)) {}
    void Turn();

    std::vector<std::string> urls_;  // never empty
    std::size_t current_ = 0;
    std::uint64_t turns_ = 0;
    std::size_t failures_ = 0;  // in a row
};

// Returns between a half and all of the time.
Duration Jittered(Duration time, Random& random);

}  // namespace ksana::worker
