#pragma once

#include <string>
#include <vector>

#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/codec/v1/definitions.hpp"

namespace ksana::app {

// A job as a file wants it.
struct WantedJob {
    model::JobDefinition job;
    bool says_enabled = false;  // otherwise a job that somebody has paused stays so
    std::string place;          // "jobs.toml/jobs/0"
};

// All that the files name.
struct WantedThings {
    std::vector<WantedJob> jobs;
    std::vector<schedule::Calendar> calendars;
    std::vector<codec::DefinedGroup> groups;
};

inline constexpr std::size_t kMaxDefinitionFiles = 10'000;

// A file (.json is JSON, everything else TOML), a folder (its *.toml and *.json, in the order of
// their names, also in folders below) or "-": standard input, which is JSON where it begins with
// an opening brace. The error names every fault of every file, what is meant included, and what two
// files both define. A job must have an id: that is how it is found again.
Result<WantedThings> ReadDefinitionFiles(const std::vector<std::string>& paths,
                                         const Process& process);

}  // namespace ksana::app
