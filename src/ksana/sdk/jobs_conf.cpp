#include "ksana/sdk/jobs_conf.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>

#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::sdk {
namespace {

using codec::Json;

constexpr std::array<std::string_view, 7> kItemKeys = {
    "id", "enabled", "cron", "fixedRate", "initialDelay", "lockTtlMs", "mode"};
constexpr std::array<std::string_view, 2> kJobsKeys = {"enabled", "items"};
constexpr std::array<std::string_view, 1> kTopKeys = {"jobs"};
constexpr std::int64_t kMostMilliseconds = std::int64_t{366} * 100 * 86'400'000;

// Reads one file; collects every fault.
class Reader {
  public:
    Reader(std::string file, std::function<int(std::string_view)> line_of)
        : file_(std::move(file)), line_of_(std::move(line_of)) {}

    JobsConf Read(const Json& root) {
        JobsConf conf{.file = file_, .enabled = {}, .items = {}};
        CheckKeys(root, "", kTopKeys);
        const Json jobs = root.At("/jobs");
        if (!root.Has("/jobs")) return conf;
        if (!jobs.IsObject()) {
            Fault("/jobs", "must be a table: [jobs]");
            return conf;
        }
        CheckKeys(jobs, "/jobs", kJobsKeys);
        conf.enabled = Flag(root, "/jobs/enabled");
        const Json items = jobs.At("/items");
        if (jobs.Has("/items") && !items.IsArray()) Fault("/jobs/items", "must be [[jobs.items]]");
        std::size_t count = 0;
        for (const Json& item : items.Items()) {
            ReadItem(root, item, fmt::format("/jobs/items/{}", count++), conf);
        }
        return conf;
    }

    std::vector<Problem> TakeProblems() { return std::move(problems_); }

  private:
    void Fault(std::string_view pointer, std::string message) {
        problems_.push_back({.path = fmt::format("{}:{}{}", file_, line_of_(pointer), pointer),
                             .message = std::move(message)});
    }

    void CheckKeys(const Json& table, const std::string& pointer,
                   std::span<const std::string_view> known) {
        for (const auto& [key, value] : table.Members()) {
            if (std::ranges::find(known, key) != known.end()) continue;
            const auto nearest = Nearest(key, known);
            Fault(fmt::format("{}/{}", pointer, key),
                  nearest ? fmt::format("is no known key; did you mean \"{}\"?", *nearest)
                          : std::string("is no known key"));
        }
    }

    void ReadItem(const Json& root, const Json& item, const std::string& at, JobsConf& conf) {
        if (!item.IsObject()) return Fault(at, "must be a table: [[jobs.items]]");
        CheckKeys(item, at, kItemKeys);
        JobOverride read;
        read.line = line_of_(at);
        read.id = Text(root, at + "/id").value_or("");
        if (!item.Has("/id")) Fault(at, "needs an id");
        read.enabled = Flag(root, at + "/enabled");
        read.cron = Text(root, at + "/cron");
        read.fixed_rate = Milliseconds(root, at + "/fixedRate", 1);
        read.initial_delay = Milliseconds(root, at + "/initialDelay", 0);
        read.lock_ttl = Milliseconds(root, at + "/lockTtlMs", 1);
        read.mode = Mode(root, at + "/mode");
        if (read.cron && read.fixed_rate) Fault(at, "has both cron and fixedRate");
        if (std::ranges::find(conf.items, read.id, &JobOverride::id) != conf.items.end()) {
            Fault(at + "/id", fmt::format("\"{}\" stands above already", Printable(read.id)));
        }
        conf.items.push_back(std::move(read));
    }

    std::optional<std::string> Text(const Json& root, const std::string& at) {
        if (!root.Has(at)) return std::nullopt;
        const Json value = root.At(at);
        if (value.IsText()) return value.Text();
        Fault(at, "must be a text");
        return std::nullopt;
    }

    std::optional<bool> Flag(const Json& root, const std::string& at) {
        if (!root.Has(at)) return std::nullopt;
        const Json value = root.At(at);
        if (value == Json::Of(true)) return true;
        if (value == Json::Of(false)) return false;
        Fault(at, "must be true or false");
        return std::nullopt;
    }

    std::optional<Duration> Milliseconds(const Json& root, const std::string& at,
                                         std::int64_t least) {
        if (!root.Has(at)) return std::nullopt;
        const std::optional<std::int64_t> number = root.At(at).Int();
        if (number && *number >= least && *number <= kMostMilliseconds) {
            return std::chrono::milliseconds(*number);
        }
        Fault(at, fmt::format("must be a whole number of milliseconds, at least {}", least));
        return std::nullopt;
    }

    std::optional<ExecutionMode> Mode(const Json& root, const std::string& at) {
        const auto text = Text(root, at);
        if (!text) return std::nullopt;
        if (*text == "SINGLE_NODE") return ExecutionMode::kSingleNode;
        if (*text == "ALL_NODES") return ExecutionMode::kAllNodes;
        Fault(at, "must be \"SINGLE_NODE\" or \"ALL_NODES\"");
        return std::nullopt;
    }

    const std::string file_;
    const std::function<int(std::string_view)> line_of_;
    std::vector<Problem> problems_;
};

}  // namespace

Result<JobsConf> ParseJobsConf(const std::string& file, std::string_view text) {
    std::function<int(std::string_view)> line_of;
    auto root = Json::ParseToml(text, &line_of);
    if (!root) return std::move(root).error().WithContext(file);
    Reader reader(file, std::move(line_of));
    JobsConf conf = reader.Read(*root);
    if (auto problems = reader.TakeProblems(); !problems.empty()) {
        return Error(std::move(problems)).WithContext(file);
    }
    return conf;
}

Result<std::optional<JobsConf>> ReadJobsConf(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
        if (errno == ENOENT) return std::optional<JobsConf>();
        return Error(Code::kInvalidArgument,
                     fmt::format("{} cannot be read: {}", Printable(file), std::strerror(errno)));
    }
    std::ostringstream text;
    text << in.rdbuf();
    KSANA_TRY(JobsConf conf, ParseJobsConf(file, text.str()));
    return std::optional(std::move(conf));
}

void Override(JobSpec& spec, const JobsConf& conf) {
    const auto found = std::ranges::find(conf.items, spec.id, &JobOverride::id);
    if (found == conf.items.end()) return;
    if (found->enabled) spec.enabled = *found->enabled;
    if (found->cron) {
        spec.cron = *found->cron;
        spec.fixed_rate = {};
    }
    if (found->fixed_rate) {
        spec.fixed_rate = *found->fixed_rate;
        spec.cron.clear();
    }
    if (found->initial_delay) spec.initial_delay = *found->initial_delay;
    if (found->lock_ttl) spec.lock_ttl = *found->lock_ttl;
    if (found->mode) spec.mode = *found->mode;
}

std::vector<Problem> UnknownIds(const JobsConf& conf, const std::vector<std::string_view>& ids) {
    std::vector<Problem> problems;
    for (const JobOverride& item : conf.items) {
        if (std::ranges::find(ids, item.id) != ids.end()) continue;
        const auto nearest = Nearest(item.id, ids);
        problems.push_back(
            {.path = fmt::format("{}:{}", conf.file, item.line),
             .message = fmt::format(
                 "there is no job \"{}\"{}", Printable(item.id),
                 nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : std::string())});
    }
    return problems;
}

}  // namespace ksana::sdk
