#pragma once

#include <string>
#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

// The flags that say what a job is, for `job create`.
std::vector<OptionSpec> DefinitionOptions();

// A definition as the API takes it: from the file of -f, and what the flags say put over it. What
// the values mean is for the server to judge. The optional word is the id.
Result<codec::Json> DefinitionOf(const Arguments& arguments, const Process& process);

// Without what the server keeps about a job: what a person edits.
codec::Json DefinitionPart(const codec::Json& job);

// "name=value" of a repeated option.
Result<std::pair<std::string, std::string>> PairOf(std::string_view option, const std::string& text,
                                                   char separator);

}  // namespace ksana::app
