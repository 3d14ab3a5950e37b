#pragma once

#include <string>
#include <vector>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/client/api_client.hpp"

namespace ksana::app {

// The options shared by all commands that ask a server: the connection, and the output format.
std::vector<OptionSpec> ApiOptions();

// Builds the client's options from the command line, else from KSANA_SERVER, KSANA_TOKEN_FILE or
// KSANA_TOKEN, else for http://127.0.0.1:7100. Fails if the token cannot be read or the timeout is
// out of bounds.
Result<client::ApiClientOptions> ClientOptionsOf(const Arguments& arguments,
                                                 const Process& process);

// The server and the token of --server and --token-file, else of the environment, as above.
std::string ServerOf(const Arguments& arguments, const Process& process);
Result<std::string> TokenOf(const Arguments& arguments, const Process& process);

// --limit N and --all, for commands that list.
std::vector<OptionSpec> ListOptions();
// Returns how many items to list at most. kInvalidArgument if both options were given.
Result<std::size_t> ListLimitOf(const Arguments& arguments);

// Returns the value of an environment variable; "" if it is not set.
std::string VariableOf(const Process& process, const std::string& name);

}  // namespace ksana::app
