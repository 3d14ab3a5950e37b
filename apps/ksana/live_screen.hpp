#pragma once

#include <termios.h>

#include <optional>
#include <string>
#include <vector>

#include "ksana/command_line.hpp"

namespace ksana::app {

// The whole terminal while it lives: the alternate screen without a cursor and without lines that
// go on below, keys without Enter and without an echo. What was there comes back at the end.
class LiveScreen {
  public:
    explicit LiveScreen(Output& output);
    ~LiveScreen();
    LiveScreen(const LiveScreen&) = delete;
    LiveScreen& operator=(const LiveScreen&) = delete;

    // False: the terminal is gone.
    bool Draw(const std::vector<std::string>& lines);

    // A key that was pressed, or 0.
    char Key() const;
    int input() const;  // readable when there is a key; -1: there are none

  private:
    Output& output_;
    std::optional<termios> before_;
};

}  // namespace ksana::app
