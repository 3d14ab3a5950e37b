#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "ksana/base/clock.hpp"
#include "ksana/base/random.hpp"
#include "ksana/base/uuid.hpp"
#include "ksana/terminal.hpp"

namespace ksana::app {

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
