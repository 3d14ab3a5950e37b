#pragma once

#include <string>
#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

// The options of `job create` that define a job.
std::vector<OptionSpec> DefinitionOptions();

// Returns a definition in the API's form: the file of -f, overridden by the options. The optional
// word is the id. The server validates the values.
Result<codec::Json> DefinitionOf(const Arguments& arguments, const Process& process);

// Returns what a job does, in a few words: the URL, the command, the handler or the type.
std::string ActionText(const codec::Json& job);

// Removes the members that the server keeps about a job; the rest is what a user edits.
codec::Json DefinitionPart(const codec::Json& job);

// Parses "name=value" of a repeated option. kInvalidArgument names the option.
Result<std::pair<std::string, std::string>> PairOf(std::string_view option, const std::string& text,
                                                   char separator);

}  // namespace ksana::app
