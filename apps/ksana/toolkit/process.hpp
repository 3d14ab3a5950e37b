#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/clock.hpp"

namespace ksana::app {

struct TerminalSize {
    int columns = 80;
    int rows = 24;
};

// Which standard streams are terminals, and the terminal's size.
struct Terminal {
    bool in = false;
    bool out = false;
    bool err = false;
    bool dumb = true;  // TERM is unset or "dumb": no colours, no redrawing
    // Queried on every use, as the window may be resized. Empty: 80 by 24.
    std::function<TerminalSize()> size = {};

    TerminalSize Size() const { return size ? size() : TerminalSize{}; }
};

// Describes the terminal of this process.
Terminal ThisTerminal(bool dumb);

// The process as commands see it. main() passes the real one, tests a fake. Owns none of the
// objects it refers to; they must outlive the table of commands.
struct Process {
    Clock& clock;
    Random& random;
    UuidGenerator& ids;
    std::map<std::string, std::string> environment;  // the variables that commands may read
    // For data too large to hold in memory.
    std::FILE* in;
    std::FILE* out;
    // Replaces the current line on standard error; "" clears it. Empty if standard error is no
    // terminal or a dumb one.
    std::function<void(std::string_view)> redraw;
    Terminal terminal = {};
};

}  // namespace ksana::app
