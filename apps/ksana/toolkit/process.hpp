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

// What commands see of the process they run in: main() gives the real one, tests their own. Owns
// nothing; everything outlives the table of commands.
struct Process {
    Clock& clock;
    Random& random;
    UuidGenerator& ids;
    std::map<std::string, std::string> environment;  // what settings and terminals need
    // For what is too large to be held as one text.
    std::FILE* in;
    std::FILE* out;
    // Shows a line in place of the one before; "" takes it away. Empty when nobody watches.
    std::function<void(std::string_view)> redraw;
    Terminal terminal = {};
};

}  // namespace ksana::app
