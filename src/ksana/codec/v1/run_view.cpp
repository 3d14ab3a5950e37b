#include "ksana/codec/v1/run_view.hpp"

#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/records/run_fields.hpp"

namespace ksana::codec {
namespace {

// One object of a view, member by member.
class View {
  public:
    explicit View(JsonOutput& output) : writer_(JsonForm::kDefinition, output) {
        output.BeginObject();
    }

    template <class T>
    View& Put(std::string_view key, const T& value) {
        writer_.Member(key, value);
        return *this;
    }
    template <class T>
    View& Put(std::string_view key, const std::optional<T>& value) {
        return value ? Put(key, *value) : *this;
    }
    // A text that is JSON itself; none where it is empty.
    View& PutJson(std::string_view key, const std::string& text) {
        if (text.empty()) return *this;
        writer_.output().Key(key);
        writer_.WriteJsonText(text);
        return *this;
    }
    View& PutText(std::string_view key, const std::string& text) {
        return text.empty() ? *this : Put(key, text);
    }
    void End() { writer_.output().EndObject(); }

  private:
    ValueWriter writer_;
};

View Summary(const model::Run& run, JsonOutput& output) {
    const model::RunStatus& status = run.status;
    View view(output);
    view.Put("id", run.id).PutText("job_id", run.job_id).Put("tenant", run.tenant);
    view.PutText("type", run.type).PutText("category", run.category);
    view.PutText("creator", run.creator).Put("kind", run.kind).Put("trigger", run.trigger);
    view.Put("priority", run.priority).Put("nominal_at", run.nominal_at);
    view.Put("parent", run.parent).Put("state", status.state).Put("ready_at", status.ready_at);
    view.Put("attempt", status.attempt).Put("failures", status.failures);
    view.Put("outcome", status.outcome).PutText("owner", status.owner);
    view.Put("started_at", status.started_at).Put("ended_at", status.ended_at);
    view.Put("finished_at", status.finished_at).Put("deadline", status.deadline);
    view.Put("progress", status.progress).PutText("progress_note", status.progress_note);
    view.Put("cancel_requested", status.cancel_requested).Put("blocked", status.blocked);
    view.Put("not_stopping", status.not_stopping).Put("skip_reason", status.skip_reason);
    view.PutText("last_error", status.last_error).PutText("remark", status.remark);
    view.Put("created_at", run.created_at).Put("updated_at", run.updated_at);
    return view;
}

void WriteAttempt(const model::Attempt& attempt, JsonOutput& output) {
    View view(output);
    view.Put("number", attempt.number).Put("owner", attempt.owner);
    view.Put("started_at", attempt.started_at).Put("ended_at", attempt.ended_at);
    view.Put("outcome", attempt.outcome).PutText("error", attempt.error);
    view.Put("not_stopping", attempt.not_stopping).PutJson("detail", attempt.detail);
    view.End();
}

}  // namespace

std::string RunViewToJson(const model::Run& run) {
    JsonOutput output;
    Summary(run, output).End();
    return output.Take();
}

std::string SubmittedRunToJson(const model::Run& run, bool already) {
    JsonOutput output;
    View view = Summary(run, output);
    view.Put("already", already).End();
    return output.Take();
}

std::string RunHistoryToJson(const model::Run& run, std::span<const model::Attempt> attempts) {
    JsonOutput output;
    View view = Summary(run, output);
    view.PutJson("payload", run.payload).PutJson("result", run.status.result);
    view.PutJson("detail", run.status.detail).Put("selector", run.selector);
    view.Put("policy", run.policy).PutText("unique_key", run.unique.key);
    output.Key("attempts");
    output.BeginArray();
    for (const model::Attempt& attempt : attempts) WriteAttempt(attempt, output);
    output.EndArray();
    view.End();
    return output.Take();
}

}  // namespace ksana::codec
