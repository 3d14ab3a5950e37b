#pragma once

#include <sys/types.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/exec/command/guardian_wire.hpp"

namespace ksana::exec {

// Returns kGuardianName. Defined beside the function that runs before main, so that every program
// that starts guardians has it.
const char* GuardianName();

// The executor's end of a guardian. Belongs to the executor's thread.
class GuardianLink {
  public:
    GuardianLink() = default;
    ~GuardianLink() { Stop(); }
    GuardianLink(const GuardianLink&) = delete;
    GuardianLink& operator=(const GuardianLink&) = delete;

    // Starts a guardian: a copy of this program. `folder` is removed at its end. Without a message
    // for `silence` it ends, too.
    Result<void> Start(const std::string& folder, Duration silence);
    // Ends the guardian, which kills all commands first. Returns when it is gone.
    void Stop();

    bool running() const { return socket_ >= 0; }
    int socket() const { return socket_; }
    // Whether messages wait for room: watch the socket for it and call Flush.
    bool waits() const { return !unsent_.empty(); }

    // Sends a message, now or when there is room. Takes the descriptor; -1: none.
    void Send(const Ask& ask, int descriptor = -1);
    void Flush();
    // Appends the endings that have arrived. Returns false if the guardian is gone.
    bool Receive(std::vector<Ending>& endings);

  private:
    struct Unsent {
        std::string packet;
        int descriptor = -1;
    };

    int socket_ = -1;
    pid_t pid_ = -1;
    std::deque<Unsent> unsent_;  // as many as commands are started at once
    std::string packet_;
};

}  // namespace ksana::exec
