#pragma once

#include <string>
#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/client/api_client.hpp"

namespace ksana::app {

// The options that all commands share that ask a server: where it is, and how its answers are
// shown.
std::vector<OptionSpec> ApiOptions();

// Where the server is and what it is shown: from the options, else from KSANA_SERVER,
// KSANA_TOKEN_FILE or KSANA_TOKEN, else the default of `ksana server` on this machine.
Result<client::ApiClientOptions> ClientOptionsOf(const Arguments& arguments,
                                                 const Process& process);

// For commands that list: --limit N and --all.
std::vector<OptionSpec> ListOptions();
Result<std::size_t> MostListedOf(const Arguments& arguments);

// "" where it is not set.
std::string VariableOf(const Process& process, const std::string& name);

}  // namespace ksana::app
