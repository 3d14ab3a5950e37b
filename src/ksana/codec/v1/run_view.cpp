#include "ksana/codec/v1/run_view.hpp"

#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/records/run_fields.hpp"
#include "ksana/codec/schema/field_schema.hpp"

namespace ksana::codec {
namespace {

// Writes one object of a view member by member. Lives during one call; the output must outlive it.
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
    // Writes a text that is JSON itself; nothing if it is empty.
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
    view.Put("wait_until", status.wait_until);
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

// Schema of what Summary writes.
ObjectSchema SummarySchema(std::string_view means) {
    const ObjectSchema run = DescribeAll<model::Run>(true);
    const ObjectSchema status = DescribeAll<model::RunStatus>(true);
    ObjectSchema view(means);
    view.NeedOf(run, {"id"}).MayOf(run, {"job_id"}).NeedOf(run, {"tenant"});
    view.MayOf(run, {"type", "category", "creator"}).NeedOf(run, {"kind", "trigger", "priority"});
    view.MayOf(run, {"nominal_at", "parent"});
    view.NeedOf(status, {"state", "ready_at", "attempt", "failures"});
    view.MayOf(status, {"outcome", "owner", "started_at", "ended_at", "finished_at", "deadline"});
    view.NeedOf(status, {"progress"}).MayOf(status, {"progress_note"});
    view.NeedOf(status, {"cancel_requested", "blocked", "not_stopping", "skip_reason"});
    view.MayOf(status, {"wait_until"});
    view.MayOf(status, {"last_error", "remark"}).NeedOf(run, {"created_at", "updated_at"});
    return view;
}

Schema MakeRun() { return SummarySchema("A run without its payload, result and detail."); }

Schema MakeSubmittedRun() {
    return SummarySchema("A run without its payload, result and detail, as its submitter is told.")
        .Need("already", Schema::Flag().Means("It was there before: it holds the unique key."));
}

Schema MakeAttempt() {
    const ObjectSchema attempt = DescribeAll<model::Attempt>(true);
    return ObjectSchema("One try to carry out a run.")
        .NeedOf(attempt, {"number", "owner", "started_at"})
        .MayOf(attempt, {"ended_at", "outcome", "error"})
        .NeedOf(attempt, {"not_stopping"})
        .May("detail", Schema().Means("What it left behind: answer, timings, trace."));
}

constexpr NamedSchema kAttemptSchema{"Attempt", &MakeAttempt};

Schema MakeRunHistory() {
    const ObjectSchema run = DescribeAll<model::Run>(true);
    return SummarySchema("All of a run, with its attempts, oldest first.")
        .May("payload", Schema().Means("Any JSON."))
        .May("result", Schema().Means("Any JSON."))
        .May("detail", Schema().Means("What the last attempt left behind."))
        .NeedOf(run, {"selector", "policy"})
        .MayOf(run, {"prefer", "prefer_for"})
        .May("unserved", Schema::Text().Means("Of a run that is ready: why nobody can take it."))
        .May("unique_key", Schema::Text().Means("The key that it holds or held."))
        .Need("attempts",
              Schema::ListOf(Schema::Ref(kAttemptSchema)).Means("What was tried, oldest first."));
}

}  // namespace

const NamedSchema kRunSchema{"Run", &MakeRun};
const NamedSchema kSubmittedRunSchema{"SubmittedRun", &MakeSubmittedRun};
const NamedSchema kRunHistorySchema{"RunHistory", &MakeRunHistory};

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

std::string RunHistoryToJson(const model::Run& run, std::span<const model::Attempt> attempts,
                             const std::string& unserved) {
    JsonOutput output;
    View view = Summary(run, output);
    view.PutJson("payload", run.payload).PutJson("result", run.status.result);
    view.PutJson("detail", run.status.detail).Put("selector", run.selector);
    if (!run.prefer.empty()) view.Put("prefer", run.prefer).Put("prefer_for", run.prefer_for);
    view.Put("policy", run.policy).PutText("unique_key", run.unique.key);
    view.PutText("unserved", unserved);
    output.Key("attempts");
    output.BeginArray();
    for (const model::Attempt& attempt : attempts) WriteAttempt(attempt, output);
    output.EndArray();
    view.End();
    return output.Take();
}

}  // namespace ksana::codec
