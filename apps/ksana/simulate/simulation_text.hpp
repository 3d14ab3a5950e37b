#pragma once

#include <string>

#include "apps/ksana/toolkit/process.hpp"
#include "apps/ksana/toolkit/style.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

struct SimulationLook {
    const Style& style;
    std::size_t columns = 80;
    bool blocks = false;         // block characters in charts
    std::size_t most_jobs = 10;  // lines of a list
};

// What POST /simulate answers, for people: totals, charts of the load, the jobs that were in their
// own way, and nights on which clocks change.
std::string SimulationText(const codec::Json& simulation, const SimulationLook& look);

// Whether the locale of the process is one of UTF-8: LC_ALL, else LC_CTYPE, else LANG.
bool SpeaksUtf8(const Process& process);

}  // namespace ksana::app
