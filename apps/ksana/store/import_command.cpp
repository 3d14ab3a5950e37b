#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include "apps/ksana/store/store_option.hpp"
#include "apps/ksana/toolkit/output_file.hpp"
#include "apps/ksana/toolkit/text_file.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/server/transfer.hpp"

namespace ksana::app {
namespace {

using server::Imported;

// Checks that the target is empty, without creating a store.
Result<void> CheckTarget(const server::StoreUrl& url, const Process& process) {
    const auto status = server::MigrationStatusOf(url, EnvironmentOf(process));
    if (!status && status.error().code == Code::kNotFound) return {};
    if (status && status->newest_known > 0 && status->newest_applied == 0) return {};
    auto store = server::OpenStore(url, EnvironmentOf(process), server::OpenMode::kReadOnly);
    if (!store && store.error().code == Code::kNotFound) return {};
    if (!store) return std::move(store).error();
    return server::CheckEmpty(**store);
}

Result<Imported> Check(LineFile& file, const Process& process) {
    ProgressLine progress(process, "checked");
    return server::CheckExport([&](std::string& line) { return file.Next(line); },
                               [&](std::int64_t records) { progress.Show(records); });
}

Result<Imported> Import(const Arguments& arguments, const Process& process) {
    KSANA_TRY(const server::StoreUrl url, StoreUrlOf(arguments, process));
    const std::string& path = arguments.words().at(0);
    auto file = path == "-" ? Result<LineFile>(LineFile::Of(process.in)) : LineFile::Open(path);
    if (!file) return std::move(file).error();
    KSANA_TRY_VOID(CheckTarget(url, process));
    if (arguments.Has("dry-run")) return Check(*file, process);
    // A file that can be read twice is checked to its end before anything is stored.
    if (file->Rewind()) {
        if (auto checked = Check(*file, process); !checked) return checked;
        file->Rewind();
    }
    KSANA_TRY(const auto store,
              server::OpenStore(url, EnvironmentOf(process), server::OpenMode::kReadWrite));
    ProgressLine progress(process, "imported");
    return server::ImportRecords(
        *store, [&](std::string& line) { return file->Next(line); },
        [&](std::int64_t records) { progress.Show(records); });
}

int RunImport(const Arguments& arguments, const Process& process, Output& output) {
    const auto imported = Import(arguments, process);
    if (!imported) return Fail(imported.error(), output);
    output.err +=
        fmt::format("{} {}, exported from {}\n",
                    arguments.Has("dry-run") ? "dry run: nothing stored; would import" : "imported",
                    CountsText(imported->counts), Printable(imported->header.store));
    return kExitOk;
}

constexpr std::string_view kStoreImportDetails =
    "FILE is what `ksana export` wrote; - is standard input. A file is read to its\n"
    "end before anything is stored: with a wrong line, or counts at the end that do\n"
    "not fit, the store stays as it was. A pipe is stored in batches as it comes.\n\n"
    "Exit code 2: the file is no export, or not a whole one; the line is named. Exit\n"
    "code 5: the store is not empty. Exit code 6: another process writes it.\n";

}  // namespace

Command ImportCommand(const Process& process) {
    return {"import",
            "FILE",
            "Fills an empty store from an export",
            kStoreImportDetails,
            1,
            {StoreOption(), {"dry-run", '\0', "", "check everything, store nothing", ""}},
            [&process](const Arguments& arguments, Output& output) {
                return RunImport(arguments, process, output);
            }};
}

}  // namespace ksana::app
