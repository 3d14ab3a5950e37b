#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <termios.h>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "apps/ksana/toolkit/style.hpp"
#include "apps/ksana/toolkit/table.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana::app {

// Takes over the terminal during its lifetime: alternate screen, hidden cursor, no line wrapping;
// keys arrive without Enter and without echo. The destructor restores the terminal. Owned by
// RunLive; one thread. If standard input is no terminal, there are no keys.
class LiveScreen {
  public:
    explicit LiveScreen(Output& output);
    ~LiveScreen();
    LiveScreen(const LiveScreen&) = delete;
    LiveScreen& operator=(const LiveScreen&) = delete;

    // Replaces the screen's content. Returns false if the terminal is gone.
    bool Draw(const std::vector<std::string>& lines);

    // Returns the next key, or 0 if none was pressed.
    char Key() const;
    int input() const;  // descriptor to poll for keys; -1: no keyboard

  private:
    Output& output_;
    std::optional<termios> before_;
};

// A live view. `ask` fetches new data; `picture` draws the data fetched last; `pause` is the
// interval.
struct LiveView {
    std::function<Result<void>()> ask;
    std::function<std::vector<std::string>(TerminalSize size)> picture;
    Duration pause;
};

// Returns the lines of a picture: a heading, and as much of the table as fits.
std::vector<std::string> WithTable(std::string heading, const Table& table, const Style& style,
                                   TerminalSize size);

// The option --interval, and its value: kInvalidArgument outside 200ms to 1h.
OptionSpec IntervalOption();
Result<Duration> IntervalOf(const Arguments& arguments);

// Returns kInvalidArgument if standard output is no terminal, or a dumb one. The message suggests
// `instead` as the way to print one picture.
Result<void> NeedTerminal(const ApiSession& session, std::string_view instead);

// Fetches and draws until the user presses q or a signal arrives; returns the exit code. While the
// server does not answer, keeps the last picture and shows the error on its second line. The caller
// must have fetched data once.
int RunLive(ApiSession& session, const LiveView& view);

}  // namespace ksana::app
