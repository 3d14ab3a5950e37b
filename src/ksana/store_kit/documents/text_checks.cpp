#include "ksana/store_kit/documents/text_checks.hpp"

#include <fmt/core.h>

#include <variant>

#include "ksana/base/text/utf8.hpp"
#include "ksana/store/job_query.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::store_kit {
namespace {

constexpr std::size_t kMaxId = 200;
constexpr std::size_t kMaxSelector = 64;

void CheckUnique(const model::UniqueRule& rule, const Path& path, std::vector<Problem>& problems) {
    CheckText(rule.key, store::kMaxText, path / "unique/key", problems);
    if ((rule.states & ~model::kAllStates) != 0) {
        problems.push_back({(path / "unique/states").Text(), "names a state that does not exist"});
    }
}

// A definition is stored as a whole, so its texts may have any size.
void CheckAnySize(std::string_view text, const Path& path, std::vector<Problem>& problems) {
    CheckText(text, text.size(), path, problems);
}

void CheckMap(const TextMap& map, const Path& path, std::vector<Problem>& problems) {
    for (const auto& [key, value] : map) {
        CheckAnySize(key, path, problems);
        CheckAnySize(value, path, problems);
    }
}

// Visits an action and adds a problem for each invalid text. Lives for one CheckJob.
class ActionCheck {
  public:
    ActionCheck(const Path& path, std::vector<Problem>& problems)
        : path_(path), problems_(problems) {}

    void operator()(const model::HttpAction& http) const {
        CheckAnySize(http.url, path_ / "http/url", problems_);
        CheckMap(http.headers, path_ / "http/headers", problems_);
        CheckAnySize(http.body, path_ / "http/body", problems_);
        CheckAnySize(http.sign_as, path_ / "http/sign_as", problems_);
    }
    void operator()(const model::CommandAction& command) const {
        for (const std::string& word : command.argv) {
            CheckAnySize(word, path_ / "command/argv", problems_);
        }
        CheckMap(command.environment, path_ / "command/environment", problems_);
        CheckAnySize(command.working_directory, path_ / "command/working_directory", problems_);
        for (const std::string& name : command.inherit) {
            CheckAnySize(name, path_ / "command/inherit", problems_);
        }
        CheckAnySize(command.user, path_ / "command/user", problems_);
        CheckAnySize(command.group, path_ / "command/group", problems_);
    }
    void operator()(const model::HandlerAction& handler) const {
        CheckAnySize(handler.input, path_ / "handler/input", problems_);
    }
    void operator()(const model::QueueAction& queue) const {
        CheckAnySize(queue.category, path_ / "queue/category", problems_);
        CheckAnySize(queue.payload, path_ / "queue/payload", problems_);
    }

  private:
    const Path& path_;
    std::vector<Problem>& problems_;
};

}  // namespace

std::string Path::Text() const {
    std::string text(base_);
    if (index_) text += fmt::format("/{}", *index_);
    if (!field_.empty()) text += fmt::format("/{}", field_);
    return text;
}

void CheckText(std::string_view text, std::size_t most, const Path& path,
               std::vector<Problem>& problems) {
    if (text.size() > most) {
        problems.push_back(
            {path.Text(), fmt::format("is {} bytes long; at most {} are kept", text.size(), most)});
    } else if (text.find('\0') != std::string_view::npos) {
        problems.push_back({path.Text(), "holds a NUL character, which no store can keep"});
    } else if (!IsUtf8(text)) {
        problems.push_back({path.Text(), "is not UTF-8"});
    }
}

static void CheckRunLabels(const TextMap& labels, const Path& path,
                           std::vector<Problem>& problems) {
    if (labels.size() > kMaxSelector) {
        problems.push_back({path.Text(), fmt::format("has more than {}", kMaxSelector)});
    }
    for (const auto& [key, value] : labels) {
        CheckText(key, kMaxId, path, problems);
        CheckText(value, kMaxId, path, problems);
    }
}

void CheckRun(const model::Run& run, const Path& path, std::vector<Problem>& problems) {
    CheckText(run.job_id, kMaxId, path / "job_id", problems);
    CheckText(run.tenant, kMaxId, path / "tenant", problems);
    CheckText(run.type, kMaxId, path / "type", problems);
    CheckText(run.category, kMaxId, path / "category", problems);
    CheckText(run.creator, kMaxId, path / "creator", problems);
    CheckText(run.trace_parent, kMaxId, path / "trace_parent", problems);
    CheckText(run.payload, store::kMaxPayload, path / "payload", problems);
    if (run.tenant.empty()) problems.push_back({(path / "tenant").Text(), "must not be empty"});
    if (run.priority < model::kMinPriority || run.priority > model::kMaxPriority) {
        problems.push_back({(path / "priority").Text(), "must be between 0 and 9"});
    }
    CheckRunLabels(run.selector, path / "selector", problems);
    CheckRunLabels(run.prefer, path / "prefer", problems);
    CheckUnique(run.unique, path, problems);
    const model::RunState state = run.status.state;
    if (state != model::RunState::kScheduled && state != model::RunState::kQueued) {
        problems.push_back({(path / "status/state").Text(), "a new run is scheduled or queued"});
    }
    if (run.status.attempt != 0) {
        problems.push_back({(path / "status/attempt").Text(), "a new run has not been tried"});
    }
}

void CheckJob(const model::Job& job, const Path& path, std::vector<Problem>& problems) {
    if (job.id.empty()) problems.push_back({(path / "id").Text(), "must not be empty"});
    if (job.tenant.empty()) problems.push_back({(path / "tenant").Text(), "must not be empty"});
    CheckText(job.id, kMaxId, path / "id", problems);
    CheckText(job.tenant, kMaxId, path / "tenant", problems);
    CheckText(job.group, kMaxId, path / "group", problems);
    CheckText(job.owner, kMaxId, path / "owner", problems);
    CheckText(job.name, store::kMaxText, path / "name", problems);
    CheckText(job.description, store::kMaxPayload, path / "description", problems);
    CheckText(job.paused_reason, store::kMaxText, path / "paused_reason", problems);
    for (const auto& [key, value] : job.labels) {
        CheckText(key, kMaxId, path / "labels", problems);
        CheckText(value, store::kMaxText, path / "labels", problems);
    }
    for (const model::Dependency& dependency : job.depends_on) {
        CheckText(dependency.job_id, kMaxId, path / "depends_on", problems);
    }
    for (const std::string& other : job.schedule.jobs) {
        CheckText(other, kMaxId, path / "schedule/jobs", problems);
    }
    CheckText(store::RunTypeOf(job), kMaxId, path / "type", problems);
    std::visit(ActionCheck(path, problems), job.action);
    CheckAnySize(job.schedule.cron, path / "schedule/cron", problems);
    CheckAnySize(job.schedule.zone, path / "schedule/zone", problems);
    CheckAnySize(job.schedule.calendar, path / "schedule/calendar", problems);
}

Result<void> Verdict(std::vector<Problem> problems) {
    if (problems.empty()) return {};
    return Error(std::move(problems));
}

Result<void> CheckBatch(std::size_t size, const std::string& path) {
    if (size <= store::kMaxBatch) return {};
    return Error(std::vector<Problem>{
        {path, fmt::format("{} in one call; at most {} are taken", size, store::kMaxBatch)}});
}

}  // namespace ksana::store_kit
