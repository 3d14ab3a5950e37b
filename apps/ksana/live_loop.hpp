#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ksana/base/result.hpp"
#include "ksana/base/time.hpp"
#include "ksana/session.hpp"
#include "ksana/terminal.hpp"

namespace ksana::app {

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
Result<void> NeedTerminal(const Session& session, std::string_view instead);

// Asks and draws until q or a signal: the exit code. Keeps the last picture while the server does
// not answer, and says so. Something must have been asked for already.
int RunLive(Session& session, const LiveView& view);

}  // namespace ksana::app
