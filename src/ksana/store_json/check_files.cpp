#include "ksana/store_json/check_files.hpp"

#include <fmt/core.h>

#include "ksana/codec/dialects/jobs_file.hpp"
#include "ksana/store_json/change_log.hpp"
#include "ksana/store_json/durable_file.hpp"
#include "ksana/store_json/load.hpp"

namespace ksana::store_json {
namespace {

bool IsMissing(const Result<std::string>& text) {
    return !text && text.error().code == Code::kNotFound;
}

}  // namespace

Result<std::vector<std::string>> CheckJsonFiles(const std::string& path) {
    auto jobs = ReadWholeFile(path);
    auto log = ReadWholeFile(LogPathOf(path));
    if (IsMissing(jobs) && IsMissing(log)) return std::move(jobs).error();
    if (!jobs && !IsMissing(jobs)) return std::move(jobs).error();
    if (!log && !IsMissing(log)) return std::move(log).error();
    std::vector<std::string> faults;
    if (jobs) {
        if (const auto file = codec::JobsFileFromJson(*jobs); !file) {
            faults.push_back(fmt::format("{}: {}", path, file.error().Describe()));
        }
    } else {
        faults.push_back(fmt::format("{} is gone, and its log is there", path));
    }
    if (!log) return faults;
    store_memory::Tables tables;
    const Replayed replayed = Replay(*log, tables);
    if (replayed.damaged > 0) {
        faults.push_back(
            fmt::format("{}: transaction {} differs from its checksum or cannot be "
                        "read",
                        LogPathOf(path), replayed.damaged));
    } else if (replayed.bad_lines > 0) {
        faults.push_back(
            fmt::format("{}: {} lines cannot be read", LogPathOf(path), replayed.bad_lines));
    }
    return faults;
}

}  // namespace ksana::store_json
