#include "ksana/task_context.hpp"

#include <algorithm>

#include "ksana/base/text/utf8.hpp"
#include "ksana/codec/json/json_text.hpp"
#include "ksana/model/run/agent.hpp"
#include "ksana/sdk/run/execution.hpp"
#include "ksana/sdk/run/job_runner.hpp"

namespace ksana {
namespace {

const model::Run& RunOf(const detail::Execution& execution) {
    return execution.attempt_at_task->run;
}

std::string Readable(std::string_view text, std::size_t most) {
    const std::string_view cut = CutText(text, most);
    return codec::WithoutNul(IsUtf8(cut) ? std::string(cut) : Excerpt(cut, most - 3), most);
}

}  // namespace

std::string TaskContext::id() const { return RunOf(execution_).id.ToString(); }

const std::string& TaskContext::exec_id() const { return execution_.exec_id; }

const std::string& TaskContext::type() const { return RunOf(execution_).type; }

const std::string& TaskContext::job_id() const { return RunOf(execution_).job_id; }

const std::string& TaskContext::payload() const {
    static const std::string nothing = "null";
    const std::string& payload = RunOf(execution_).payload;
    return payload.empty() ? nothing : payload;
}

int TaskContext::attempt() const { return execution_.attempt; }

const std::string& TaskContext::traceparent() const { return execution_.trace_parent; }
std::int64_t TaskContext::fence() const { return execution_.fence; }

bool TaskContext::cancelled() const { return execution_.cancelled(); }

void TaskContext::Check() const {
    if (cancelled()) throw TaskCancelled();
}

bool TaskContext::Sleep(Duration time) { return execution_.context->SleepOnThread(time); }

std::optional<TimePoint> TaskContext::deadline() const { return execution_.deadline; }

void TaskContext::Progress(int percent, std::string_view note) {
    const auto& tell = execution_.attempt_at_task->tell;
    if (!tell) return;
    tell({.progress = std::clamp(percent, 0, 100),
          .note = Readable(note, model::kMaxNoteLength),
          .log = {}});
}

void TaskContext::Log(std::string_view line) {
    const auto& tell = execution_.attempt_at_task->tell;
    if (!tell) return;
    tell({.progress = {}, .note = {}, .log = codec::QuoteJson(Readable(line, model::kMaxLogLine))});
}

}  // namespace ksana
