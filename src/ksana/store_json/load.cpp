#include "ksana/store_json/load.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "ksana/base/log/log.hpp"
#include "ksana/codec/dialects/jobs_file.hpp"
#include "ksana/codec/v1/definitions.hpp"
#include "ksana/model/job/job_tally.hpp"
#include "ksana/store_json/change_log.hpp"
#include "ksana/store_json/durable_file.hpp"

namespace ksana::store_json {
namespace {

using model::Job;
using store_memory::Tables;

// Returns whether both jobs have the same form in jobs.json, so that a user sees no difference.
bool SameDefinition(const Job& a, const Job& b) {
    return codec::JobToJson(a) == codec::JobToJson(b);
}

// Returns a job of the file with the state that the log has for it.
Job Combine(Job written, const Job* logged, TimePoint file_time) {
    if (logged == nullptr) {
        written.state.version = 1;
        written.state.created_at = file_time;
        written.state.updated_at = file_time;
        return written;
    }
    if (SameDefinition(written, *logged)) return *logged;
    // The user has edited the job: it is a new version.
    written.state = logged->state;
    ++written.state.version;
    written.state.updated_at = file_time;
    return written;
}

// Renames a file that cannot be read and begins an empty one (K-12).
Result<codec::JobsFile> ReadJobsFile(const JsonOptions& options, Loaded& loaded) {
    auto text = ReadWholeFile(options.path);
    if (!text && text.error().code != Code::kNotFound) return std::move(text).error();
    codec::JobsFile empty{.updated_at = options.clock.Now()};
    loaded.rewrite_jobs = true;
    if (!text) return empty;
    auto file = codec::JobsFileFromJson(*text);
    if (file) {
        loaded.rewrite_jobs = false;
        return file;
    }
    KSANA_TRY(const std::string aside, SetAside(options.path));
    Log(LogLevel::kError, "jobs.json cannot be read; it is set aside and an empty one begun",
        {{"file", options.path}, {"kept_as", aside}, {"error", file.error().Describe()}});
    return empty;
}

// Returns what the log knows about a job of the file. A job that the log deletes but the file still
// has was being deleted when the server ended between the two writes. The deletion was never
// acknowledged, so the job continues as it was, with its fires.
const Job* KnownJob(const Replayed& replayed, const std::string& id) {
    const auto logged = replayed.jobs.find(id);
    if (logged != replayed.jobs.end()) return &logged->second;
    const auto dropped = replayed.dropped.find(id);
    return dropped == replayed.dropped.end() ? nullptr : &dropped->second;
}

// A user may have edited which jobs a job of the file names.
void CountDependants(Tables& tables) {
    std::vector<Job> changed;
    for (const Job& job : tables.jobs()) {
        const auto count = static_cast<std::int32_t>(tables.DependantsOf(job.id).size());
        if (count == job.state.dependants) continue;
        changed.push_back(job);
        changed.back().state.dependants = count;
    }
    for (Job& job : changed) {
        const store_memory::JobKey key{job.id};
        tables.Set(key, std::move(job));
    }
}

Result<void> LoadJobs(const JsonOptions& options, const Replayed& replayed, Tables& tables,
                      Loaded& loaded) {
    KSANA_TRY(codec::JobsFile file, ReadJobsFile(options, loaded));
    for (std::size_t i = 0; i < file.jobs.size(); ++i) {
        Job& job = file.jobs[i];
        if (job.id.empty()) {
            job.id = options.ids.Next().ToString();
            loaded.rewrite_jobs = true;
        }
        if (tables.FindJob(job.id) != nullptr) {
            return Error(Code::kInvalidArgument,
                         fmt::format("{}: /jobs/{}/id: \"{}\" is there twice; one of them needs "
                                     "another id",
                                     options.path, i, job.id));
        }
        const Job* const known = KnownJob(replayed, job.id);
        Job combined = Combine(std::move(job), known, file.updated_at);
        const store_memory::JobKey key{combined.id};
        tables.Set(key, std::move(combined));
    }
    CountDependants(tables);
    return {};
}

// Assumes that every line has the average length.
std::int64_t LiveSize(const Replayed& replayed, std::int64_t rows) {
    const std::int64_t live = std::min(rows, replayed.lines);
    return replayed.size / std::max<std::int64_t>(replayed.lines, 1) * live;
}

}  // namespace

std::string LogPathOf(const std::string& jobs_path) {
    const std::filesystem::path path(jobs_path);
    return path.parent_path() / (path.stem().string() + ".runs.jsonl");
}

Result<Loaded> Load(const JsonOptions& options, Tables& tables) {
    Loaded loaded;
    const std::string log_path = LogPathOf(options.path);
    auto log = ReadWholeFile(log_path);
    if (!log && log.error().code != Code::kNotFound) return std::move(log).error();
    Replayed replayed;
    if (log) replayed = Replay(*log, tables);
    loaded.log_size = replayed.size;
    loaded.last_seq = replayed.last_seq;
    if (log && static_cast<std::int64_t>(log->size()) > replayed.size) {
        Log(LogLevel::kWarn, "the end of the log is torn: a change that was never acknowledged",
            {{"file", log_path},
             {"bytes", static_cast<std::int64_t>(log->size()) - replayed.size}});
    }
    if (replayed.damaged > 0 && !options.accept_damage) {
        return Error(Code::kDataLoss,
                     fmt::format("{} is damaged: its transaction {} differs from its checksum or "
                                 "cannot be read; restore a backup, or keep what can be read by "
                                 "`ksana doctor --store URL --repair`",
                                 log_path, replayed.damaged));
    }
    if (replayed.bad_lines > 0 || replayed.damaged > 0) {
        KSANA_TRY(const std::string aside, KeepBadCopy(log_path));
        Log(LogLevel::kError, "lines of the log cannot be read; a copy of it is kept",
            {{"file", log_path}, {"kept_as", aside}, {"lines", replayed.bad_lines}});
        loaded.rewrite_log = true;
    }
    KSANA_TRY_VOID(LoadJobs(options, replayed, tables, loaded));
    loaded.live_size = LiveSize(replayed, RowsOf(tables));
    (void)tables.TakeJournal();
    return loaded;
}

}  // namespace ksana::store_json
