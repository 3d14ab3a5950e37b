#include "ksana/store_kit/documents/record_checks.hpp"

#include <fmt/core.h>

#include <limits>
#include <string>
#include <string_view>
#include <variant>

#include "ksana/base/text/utf8.hpp"
#include "ksana/model/run/decide.hpp"

namespace ksana::store_kit {
namespace {

// Texts that are part of a key have a maximum size in bytes; others may have any size.
constexpr std::size_t kMaxKey = 500;
constexpr std::size_t kMaxUnique = 4'000;
constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();

// Visits a record and adds a problem for each invalid field. Lives for one CheckRecord.
class RecordCheck {
  public:
    RecordCheck(const Path& path, std::vector<Problem>& problems)
        : path_(path), problems_(problems) {}

    void operator()(const model::Job& job) {
        CheckJob(job, path_, problems_);
        Text(job.state.last_error, "last_error");
        Priority(job.priority);
    }

    void operator()(const model::Run& run) {
        Key(run.job_id, "job_id");
        Key(run.tenant, "tenant");
        Key(run.type, "type");
        if (run.tenant.empty()) Wrong("tenant", "must not be empty");
        Text(run.category, "category");
        Text(run.creator, "creator");
        Text(run.payload, "payload");
        Labels(run.selector, "selector");
        Labels(run.prefer, "prefer");
        CheckText(run.unique.key, kMaxUnique, path_ / "unique/key", problems_);
        if ((run.unique.states & ~model::kAllStates) != 0) {
            Wrong("unique/states", "names a state that does not exist");
        }
        Priority(run.priority);
        Status(run);
    }

    void operator()(const model::Attempt& attempt) {
        Text(attempt.exec_id, "exec_id");
        Text(attempt.owner, "owner");
        Text(attempt.error, "error");
        Text(attempt.detail, "detail");
        if (attempt.number < 1) Wrong("number", "must be 1 or more");
    }

    void operator()(const model::LedgerEntry& entry) {
        Key(entry.job_id, "job_id");
        Seq(entry.seq);
    }

    void operator()(const model::AuditEvent& event) {
        Text(event.tenant, "tenant");
        Text(event.action, "action");
        Text(event.user, "user");
        Text(event.resource_type, "resource_type");
        Text(event.resource_id, "resource_id");
        Text(event.old_object, "old_object");
        Text(event.new_object, "new_object");
        Text(event.data, "data");
        Text(event.client_ip, "client_ip");
        Text(event.method, "method");
        Seq(event.seq);
    }

    void operator()(const model::Document& document) {
        Key(document.kind, "kind");
        Key(document.key, "key");
        if (document.kind.empty()) Wrong("kind", "must not be empty");
        if (document.key.empty()) Wrong("key", "must not be empty");
        Text(document.body, "body");
    }

  private:
    void Labels(const TextMap& labels, std::string_view member) {
        for (const auto& [key, value] : labels) {
            Text(key, member);
            Text(value, member);
        }
    }
    void Status(const model::Run& run) {
        const model::RunStatus& status = run.status;
        Text(status.exec_id, "status/exec_id");
        Text(status.owner, "status/owner");
        Text(status.progress_note, "status/progress_note");
        Text(status.result, "status/result");
        Text(status.last_error, "status/last_error");
        Text(status.detail, "status/detail");
        Text(status.remark, "status/remark");
        if (status.state == model::RunState::kRunning && !model::ExpiresAt(run)) {
            Wrong("status/lease_until", "a running run has a lease or a deadline");
        }
        if (model::IsFinal(status.state) && !status.finished_at) {
            Wrong("status/finished_at", "a run that is over has the time of its end");
        }
    }

    void Key(std::string_view text, std::string_view field) {
        CheckText(text, kMaxKey, path_ / field, problems_);
    }
    void Text(std::string_view text, std::string_view field) {
        CheckText(text, kAnySize, path_ / field, problems_);
    }
    void Priority(std::int32_t priority) {
        if (priority < model::kMinPriority || priority > model::kMaxPriority) {
            Wrong("priority", "must be between 0 and 9");
        }
    }
    // The store assigns numbers from 1; 0 would request a new one.
    void Seq(std::int64_t seq) {
        if (seq < 1) Wrong("seq", "must be 1 or more");
    }
    void Wrong(std::string_view field, std::string message) {
        problems_.push_back({(path_ / field).Text(), std::move(message)});
    }

    const Path& path_;
    std::vector<Problem>& problems_;
};

// The name by which a person can find the record.
struct NameOfRecord {
    std::string operator()(const model::Job& job) const { return "job " + job.id; }
    std::string operator()(const model::Run& run) const { return "run " + run.id.ToString(); }
    std::string operator()(const model::Attempt& attempt) const {
        return fmt::format("attempt {} of run {}", attempt.number, attempt.run_id.ToString());
    }
    std::string operator()(const model::LedgerEntry& entry) const {
        return fmt::format("ledger entry {}", entry.seq);
    }
    std::string operator()(const model::AuditEvent& event) const {
        return fmt::format("event {}", event.seq);
    }
    std::string operator()(const model::Document& document) const {
        return fmt::format("{} {}", document.kind, document.key);
    }
};

}  // namespace

void CheckRecord(const model::Record& record, const Path& path, std::vector<Problem>& problems) {
    const std::size_t before = problems.size();
    std::visit(RecordCheck(path, problems), record);
    if (problems.size() == before) return;
    std::string name = std::visit(NameOfRecord(), record);
    if (!IsUtf8(name) || name.find('\0') != std::string::npos) name = "a record";
    for (std::size_t i = before; i < problems.size(); ++i) {
        problems[i].message = fmt::format("{}: {}", name, problems[i].message);
    }
}

}  // namespace ksana::store_kit
