#pragma once

#include <functional>

namespace ksana::app {

struct TerminalSize {
    int columns = 80;
    int rows = 24;
};

// What the process is connected to: each stream judged by itself.
struct Terminal {
    bool in = false;
    bool out = false;
    bool err = false;
    bool dumb = true;  // TERM says nothing, or "dumb": no colours, nothing is drawn over
    // Asked anew each time, as a window may change. Empty: the usual 80 columns.
    std::function<TerminalSize()> size = {};

    TerminalSize Size() const { return size ? size() : TerminalSize{}; }
};

// Of this process.
Terminal ThisTerminal(bool dumb);

}  // namespace ksana::app
