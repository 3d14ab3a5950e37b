#pragma once

#include <string>

#include "ksana/base/result.hpp"
#include "ksana/codec/json_tree.hpp"
#include "ksana/process.hpp"

namespace ksana::app {

// All of a file; "-" is standard input. Beyond this size it is refused.
Result<std::string> ReadTextFile(const std::string& path, const Process& process,
                                 std::size_t max_bytes = 4 << 20);

// A file that holds JSON or TOML: by its name (.toml, .json), else by how it begins.
Result<codec::Json> ReadDataFile(const std::string& path, const Process& process);

}  // namespace ksana::app
