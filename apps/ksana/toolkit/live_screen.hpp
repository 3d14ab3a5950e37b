#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <termios.h>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "apps/ksana/toolkit/style.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"

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

// What a command shows live. `ask` gets what is to be shown, `picture` draws what was got last.
struct LiveView {
    std::function<Result<void>()> ask;
    std::function<std::vector<std::string>(TerminalSize size)> picture;
    Duration pause;
};

// The option --interval, and what it says.
OptionSpec IntervalOption();
Result<Duration> IntervalOf(const Arguments& arguments);

// An error where there is no terminal to draw on; `instead` is what to say for one picture.
Result<void> NeedTerminal(const ApiSession& session, std::string_view instead);

// Asks and draws until q or a signal: the exit code. Keeps the last picture while the server does
// not answer, and says so. Something must have been asked for already.
int RunLive(ApiSession& session, const LiveView& view);

}  // namespace ksana::app
