#pragma once

#include <csignal>

#include "ksana/base/time/time.hpp"

namespace ksana::app {

// Signals that end a command (SIGINT, SIGTERM; SIGWINCH where it is asked for) as something that
// can be waited for, so that the command ends in its own way. They are blocked while this lives:
// make it before any other thread is made, and wait on the main thread only.
class EndSignals {
  public:
    enum class Also { kNothing, kResize };
    explicit EndSignals(Also also = Also::kNothing);
    // What came late ends the process at once.
    ~EndSignals();
    EndSignals(const EndSignals&) = delete;
    EndSignals& operator=(const EndSignals&) = delete;

    // What comes first: a signal (its number), or something to read from `input` (kInput), or
    // nothing within this time (0).
    int Wait(Duration most, int input = -1) const;
    static constexpr int kInput = -1;

    // Whether one that ends the command has come and was not taken by Wait.
    static bool IsPending();

  private:
    sigset_t set_{};
    sigset_t before_{};
    int fd_ = -1;
};

}  // namespace ksana::app
