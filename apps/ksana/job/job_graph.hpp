#pragma once

#include <string>
#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

// ksana job graph.
std::vector<Command> JobGraphCommands(const Process& process);

// The graph (/api/v1/graph) as an indented list, in the language of Mermaid, and in that of
// Graphviz. Pure.
std::string GraphToText(const codec::Json& graph);
std::string GraphToMermaid(const codec::Json& graph);
std::string GraphToDot(const codec::Json& graph);

}  // namespace ksana::app
