#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include "apps/ksana/store/store_option.hpp"
#include "apps/ksana/toolkit/output_file.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/server/transfer.hpp"

namespace ksana::app {
namespace {

Result<codec::ExportCounts> Export(const Arguments& arguments, const Process& process) {
    KSANA_TRY(const server::StoreUrl url, StoreUrlOf(arguments, process));
    KSANA_TRY(const auto store,
              server::OpenStore(url, EnvironmentOf(process), server::OpenMode::kReadOnly));
    const std::string& path = arguments.Get("output");
    auto file = path == "-" ? Result<OutputFile>(OutputFile::Of(process.out))
                            : OutputFile::Create(path, arguments.Has("force"));
    if (!file) return std::move(file).error();
    ProgressLine progress(process, "exported");
    KSANA_TRY(const codec::ExportCounts counts,
              server::ExportRecords(
                  *store, {.at = process.clock.Now(), .store = server::ShownUrl(url)},
                  [&](std::string_view line) { return file->Write(line); },
                  [&](std::int64_t records) { progress.Show(records); }));
    KSANA_TRY_VOID(file->Commit());
    return counts;
}

int RunExport(const Arguments& arguments, const Process& process, Output& output) {
    const auto counts = Export(arguments, process);
    if (!counts) return Fail(counts.error(), output);
    const std::string& path = arguments.Get("output");
    output.err += fmt::format("exported {}{}\n", CountsText(*counts),
                              path == "-" ? "" : " to " + Printable(path));
    return kExitOk;
}

constexpr std::string_view kExportDetails =
    "A header, then one record a line, and at the end the counts, by which `ksana\n"
    "import` knows that nothing is missing. A file appears whole or not at all,\n"
    "readable by its owner only: it holds payloads and results.\n\n"
    "SQLite and PostgreSQL can be exported beside a running server, but what changes\n"
    "meanwhile is seen in part; stop it for one exact state. The json store cannot.\n"
    "Exit code 3: there is no such store. Exit code 5: the file is there already.\n";

}  // namespace

Command ExportCommand(const Process& process) {
    return {"export",
            "",
            "Writes everything a store holds as lines of JSON",
            kExportDetails,
            0,
            {StoreOption(),
             {"output", 'o', "FILE", "where to; - is standard output", "-"},
             {"force", '\0', "", "replace a file that is there", ""}},
            [&process](const Arguments& arguments, Output& output) {
                return RunExport(arguments, process, output);
            }};
}

}  // namespace ksana::app
