#include "apps/ksana/toolkit/process.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace ksana::app {
namespace {

TerminalSize SizeOfOutput() {
    winsize size{};
    TerminalSize known;
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return known;
    if (size.ws_col > 0) known.columns = size.ws_col;
    if (size.ws_row > 0) known.rows = size.ws_row;
    return known;
}

}  // namespace

Terminal ThisTerminal(bool dumb) {
    return {.in = ::isatty(STDIN_FILENO) != 0,
            .out = ::isatty(STDOUT_FILENO) != 0,
            .err = ::isatty(STDERR_FILENO) != 0,
            .dumb = dumb,
            .size = SizeOfOutput};
}

}  // namespace ksana::app
