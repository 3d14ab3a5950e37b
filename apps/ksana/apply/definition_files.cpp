#include "apps/ksana/apply/definition_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>

#include "apps/ksana/toolkit/text_file.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/codec/json/json_tree.hpp"
#include "ksana/model/validate.hpp"
#include "ksana/schedule/calendar/calendar_index.hpp"
#include "ksana/schedule/schedule.hpp"
#include "ksana/schedule/zone/zone_database.hpp"

namespace ksana::app {
namespace {

namespace fs = std::filesystem;

bool IsDefinitionFile(const fs::path& path) {
    return path.extension() == ".toml" || path.extension() == ".json";
}

Result<std::vector<std::string>> FilesIn(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    fs::recursive_directory_iterator walk(folder, error);
    for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
        std::error_code ignored;
        if (!walk->is_regular_file(ignored) || !IsDefinitionFile(walk->path())) continue;
        if (files.size() == kMaxDefinitionFiles) {
            return Error(
                Code::kInvalidArgument,
                fmt::format("{} has more than {} files", Printable(folder), kMaxDefinitionFiles));
        }
        files.push_back(walk->path().string());
    }
    if (error) {
        return Error(Code::kInternal,
                     fmt::format("cannot read {}: {}", Printable(folder), error.message()));
    }
    if (files.empty()) {
        return Error(Code::kNotFound,
                     fmt::format("{} has no .toml or .json file", Printable(folder)));
    }
    std::ranges::sort(files);
    return files;
}

// Returns the problems that the server would report, except for upper bounds: only the server knows
// those.
std::vector<Problem> FaultsOf(const codec::DefinedGroup& group) {
    std::vector<Problem> faults;
    if (!IsIdentifier(group.name)) {
        faults.push_back({"/name", fmt::format("is {}", kIdentifierRule)});
    }
    const auto at_least_one = [&faults](std::string path, std::int64_t number) {
        if (number < 1) faults.push_back({std::move(path), "must be at least 1"});
    };
    if (group.max_concurrency) at_least_one("/max_concurrency", *group.max_concurrency);
    if (group.rate) {
        at_least_one("/rate/count", group.rate->count);
        at_least_one("/rate/burst", group.rate->burst.value_or(1));
        if (group.rate->per <= Duration::zero()) {
            faults.push_back({"/rate/per", "must be longer than nothing"});
        }
    }
    return faults;
}

// Collects the definitions of several texts, and all their problems. Lives on the stack of
// ReadDefinitionFiles. Finish() returns the definitions, or an error with all problems.
class DefinitionCollector {
  public:
    void Take(const std::string& shown, std::string_view text, bool is_json) {
        auto definitions =
            is_json ? codec::DefinitionsFromJson(text) : codec::DefinitionsFromToml(text);
        if (!definitions) return Refuse(shown, definitions.error());
        // The model has a default for every member; only the text tells which ones were set.
        const auto tree = is_json ? codec::Json::Parse(text) : codec::Json::ParseToml(text);
        if (!tree) return Refuse(shown, tree.error());
        for (std::size_t n = 0; n < definitions->jobs.size(); ++n) {
            model::JobDefinition& job = definitions->jobs[n];
            const std::string place = fmt::format("/jobs/{}", n);
            if (job.id.empty()) {
                Fault(shown, place + "/id", "is missing: without it the job is not found again");
                continue;
            }
            Claim(shown, place, "job", job.id);
            const bool says = tree->Has(place + "/enabled");
            things_.jobs.push_back({std::move(job), says, shown + place});
        }
        for (std::size_t n = 0; n < definitions->calendars.size(); ++n) {
            const std::string place = fmt::format("/calendars/{}", n);
            Claim(shown, place, "calendar", definitions->calendars[n].name);
            Judge(shown + place, schedule::ValidateCalendar(definitions->calendars[n]));
            things_.calendars.push_back(std::move(definitions->calendars[n]));
        }
        for (std::size_t n = 0; n < definitions->groups.size(); ++n) {
            const std::string place = fmt::format("/groups/{}", n);
            Claim(shown, place, "group", definitions->groups[n].name);
            Judge(shown + place, FaultsOf(definitions->groups[n]));
            things_.groups.push_back(std::move(definitions->groups[n]));
        }
    }

    void Refuse(const std::string& shown, const Error& error) {
        if (error.problems.empty()) return Fault(shown, "", error.message);
        for (const Problem& problem : error.problems) Fault(shown, problem.path, problem.message);
    }

    // Validates the jobs. A calendar that no file defines may exist on the server, which checks
    // that.
    void JudgeJobs() {
        if (!problems_.empty()) return;
        schedule::ZoneDatabase zones;
        std::map<std::string, std::shared_ptr<const schedule::CalendarIndex>, std::less<>> indexes;
        for (const schedule::Calendar& calendar : things_.calendars) {
            indexes[calendar.name] = std::make_shared<schedule::CalendarIndex>(calendar);
        }
        const auto elsewhere = std::make_shared<schedule::CalendarIndex>(schedule::Calendar{});
        const auto find = [&](std::string_view name) {
            const auto found = indexes.find(name);
            return found == indexes.end() ? elsewhere : found->second;
        };
        for (const WantedJob& wanted : things_.jobs) {
            Judge(wanted.place, model::ValidateJob(wanted.job, {zones, {}, find}));
        }
    }

    Result<DefinedItems> Finish() && {
        if (!problems_.empty()) return Error(std::move(problems_));
        return std::move(things_);
    }

  private:
    void Fault(const std::string& shown, const std::string& path, std::string message) {
        problems_.push_back({shown + path, std::move(message)});
    }

    void Judge(const std::string& place, const std::vector<Problem>& faults) {
        for (const Problem& fault : faults)
            problems_.push_back({place + fault.path, fault.message});
    }

    void Claim(const std::string& shown, const std::string& place, std::string_view kind,
               const std::string& name) {
        const auto [there, added] = owners_.try_emplace(fmt::format("{} {}", kind, name), shown);
        if (added) return;
        Fault(shown, place,
              fmt::format("{} {} is defined in {} already", kind, Printable(Excerpt(name, 80)),
                          there->second));
    }

    DefinedItems things_;
    std::vector<Problem> problems_;
    std::map<std::string, std::string> owners_;
};

bool LooksLikeJson(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{';
}

}  // namespace

Result<DefinedItems> ReadDefinitionFiles(const std::vector<std::string>& paths,
                                         const Process& process) {
    DefinitionCollector gatherer;
    for (const std::string& path : paths) {
        if (path == "-") {
            KSANA_TRY(const std::string text, ReadTextFile(path, process));
            gatherer.Take("standard input", text, LooksLikeJson(text));
            continue;
        }
        std::error_code ignored;
        std::vector<std::string> files = {path};
        if (fs::is_directory(path, ignored)) {
            KSANA_TRY(files, FilesIn(path));
        }
        for (const std::string& file : files) {
            KSANA_TRY(const std::string text, ReadTextFile(file, process));
            gatherer.Take(Printable(file), text, file.ends_with(".json"));
        }
    }
    gatherer.JudgeJobs();
    return std::move(gatherer).Finish();
}

}  // namespace ksana::app
