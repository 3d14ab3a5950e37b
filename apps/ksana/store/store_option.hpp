#pragma once

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/codec/records/export_line.hpp"
#include "ksana/server/open_store.hpp"

namespace ksana::app {

// --store URL, as every command has it that opens a store itself.
OptionSpec StoreOption();

// From --store, else the store of the server's settings: the same variables and the same file. A
// bare word means the same file as there, too. The error says where it was from.
Result<server::StoreUrl> StoreUrlOf(const Arguments& arguments, const Process& process);

server::StoreEnvironment EnvironmentOf(const Process& process);

// "3 jobs, 1 run, …" without what there is none of.
std::string CountsText(const codec::ExportCounts& counts);

}  // namespace ksana::app
