#pragma once

#include <string>
#include <vector>

#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/codec/v1/definitions.hpp"

namespace ksana::app {

// A job that a file defines.
struct WantedJob {
    model::JobDefinition job;
    bool says_enabled = false;  // the file sets `enabled`; if not, a paused job stays paused
    std::string place;          // "jobs.toml/jobs/0"
};

// Everything that the files define.
struct DefinedItems {
    std::vector<WantedJob> jobs;
    std::vector<schedule::Calendar> calendars;
    std::vector<codec::DefinedGroup> groups;
};

inline constexpr std::size_t kMaxDefinitionFiles = 10'000;

// Reads definitions from files (.json is JSON, everything else TOML), folders (their *.toml and
// *.json files in the order of their names, including subfolders) or "-" (standard input: JSON if
// it begins with an opening brace). The error lists every problem of every file, including invalid
// values and items defined twice. Every job needs an id, by which a later apply finds it.
Result<DefinedItems> ReadDefinitionFiles(const std::vector<std::string>& paths,
                                         const Process& process);

}  // namespace ksana::app
