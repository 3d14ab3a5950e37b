#include "ksana/codec/run_view.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "ksana/codec/json_write.hpp"
#include "ksana/codec/run_fields.hpp"
#include "ksana/codec/value_writer.hpp"

namespace ksana::codec {
namespace {

namespace json = boost::json;

class ViewObject {
  public:
    template <class T>
    ViewObject& Put(json::string_view key, const T& value) {
        object_.emplace(key, writer_.Make(value));
        return *this;
    }
    template <class T>
    ViewObject& Put(json::string_view key, const std::optional<T>& value) {
        return value ? Put(key, *value) : *this;
    }
    // A text that is JSON itself; none where it is empty.
    ViewObject& PutJson(json::string_view key, const std::string& text) {
        if (!text.empty()) object_.emplace(key, writer_.MakeJson(text));
        return *this;
    }
    ViewObject& PutText(json::string_view key, const std::string& text) {
        return text.empty() ? *this : Put(key, text);
    }

    json::object Take() { return std::move(object_); }
    json::object& object() { return object_; }

  private:
    ValueWriter writer_{JsonForm::kDefinition};
    json::object object_;
};

ViewObject Summary(const model::Run& run) {
    const model::RunStatus& status = run.status;
    ViewObject view;
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

json::object AttemptView(const model::Attempt& attempt) {
    ViewObject view;
    view.Put("number", attempt.number).Put("owner", attempt.owner);
    view.Put("started_at", attempt.started_at).Put("ended_at", attempt.ended_at);
    view.Put("outcome", attempt.outcome).PutText("error", attempt.error);
    view.Put("not_stopping", attempt.not_stopping).PutJson("detail", attempt.detail);
    return view.Take();
}

}  // namespace

std::string RunViewToJson(const model::Run& run) { return WriteJson(Summary(run).Take()); }

std::string RunHistoryToJson(const model::Run& run, std::span<const model::Attempt> attempts) {
    ViewObject view = Summary(run);
    view.PutJson("payload", run.payload).PutJson("result", run.status.result);
    view.PutJson("detail", run.status.detail).Put("selector", run.selector);
    view.Put("policy", run.policy).PutText("unique_key", run.unique.key);
    json::array tries;
    tries.reserve(attempts.size());
    for (const model::Attempt& attempt : attempts) tries.emplace_back(AttemptView(attempt));
    view.object().emplace("attempts", std::move(tries));
    return WriteJson(view.Take());
}

}  // namespace ksana::codec
