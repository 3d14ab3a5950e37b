#pragma once

#include <csignal>

#include "ksana/base/time/time.hpp"

namespace ksana::app {

// Receives the signals that end a command (SIGINT, SIGTERM, optionally SIGWINCH) on a descriptor,
// so that the command can wait for them and end cleanly. The signals are blocked during its
// lifetime: create it before any other thread starts, and call it on the main thread only. Aborts
// if no descriptor is left.
class EndSignals {
  public:
    enum class Also { kNothing, kResize };
    explicit EndSignals(Also also = Also::kNothing);
    // Unblocks the signals. One that arrived and was not taken ends the process at once.
    ~EndSignals();
    EndSignals(const EndSignals&) = delete;
    EndSignals& operator=(const EndSignals&) = delete;

    // Waits for the first of: a signal (returns its number), input on `input` (returns kInput), or
    // the timeout `most` (returns 0).
    int Wait(Duration most, int input = -1) const;
    static constexpr int kInput = -1;

    // Returns whether SIGINT or SIGTERM has arrived and was not taken by Wait.
    static bool IsPending();

  private:
    sigset_t set_{};
    sigset_t before_{};
    int fd_ = -1;
};

}  // namespace ksana::app
