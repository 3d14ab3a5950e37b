#pragma once

#include <string>

#include "apps/ksana/toolkit/process.hpp"
#include "apps/ksana/toolkit/style.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

struct SimulationLook {
    const Style& style;
    std::size_t columns = 80;
    bool blocks = false;         // draw charts with block characters
    std::size_t most_jobs = 10;  // longest list of jobs
};

// Formats an answer of POST /simulate for people: totals, load charts, jobs whose runs overlapped,
// and fires at clock changes.
std::string SimulationText(const codec::Json& simulation, const SimulationLook& look);

// Returns whether the locale uses UTF-8: LC_ALL, else LC_CTYPE, else LANG.
bool SpeaksUtf8(const Process& process);

}  // namespace ksana::app
