#pragma once

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/codec/records/export_line.hpp"
#include "ksana/server/open_store.hpp"

namespace ksana::app {

// --store URL, for every command that opens a store itself.
OptionSpec StoreOption();

// Returns the URL of --store, else of the server's settings, from the same variables and the same
// file. A bare word ("sqlite") means the same file as for the server. The error names its source.
Result<server::StoreUrl> StoreUrlOf(const Arguments& arguments, const Process& process);

server::StoreEnvironment EnvironmentOf(const Process& process);

// Formats counts as "3 jobs, 1 run, …", without zeros.
std::string CountsText(const codec::ExportCounts& counts);

}  // namespace ksana::app
