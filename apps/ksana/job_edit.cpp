#include "ksana/job_edit.hpp"

#include <fmt/core.h>

#include "ksana/editor.hpp"
#include "ksana/item_view.hpp"
#include "ksana/job_definition.hpp"
#include "ksana/text_file.hpp"

namespace ksana::app {
namespace {

using client::ApiAnswer;
using client::ApiPath;
using codec::Json;

void ShowStored(Session& session, const Json& job) {
    ShowChange(session, job,
               fmt::format("changed {}, version {}", job.TextAt("/id"), job.TextAt("/version")));
}

// What came out of the editor, stored only if the job is still what was edited.
Result<Json> Store(Session& session, const std::string& text, const std::string& tag) {
    auto edited = Json::Parse(text);
    if (!edited) return std::move(edited).error().WithContext("the edited text");
    auto answer = session.api.Put(ApiPath({"jobs", session.Word(0)}), *edited, tag);
    if (answer) return answer->json;
    Error error = std::move(answer).error();
    if (error.code != Code::kConflict) return error;
    return std::move(error).WithContext("somebody else has changed the job meanwhile");
}

}  // namespace

Result<int> EditJob(Session& session) {
    const std::string& id = session.Word(0);
    KSANA_TRY(const ApiAnswer before, session.api.Get(ApiPath({"jobs", id})));
    const std::string tag = before.HeaderValue("ETag");
    if (session.arguments.Has("file")) {
        KSANA_TRY(const Json given, ReadDataFile(session.arguments.Get("file"), session.process));
        KSANA_TRY(const ApiAnswer answer, session.api.Put(ApiPath({"jobs", id}), given, tag));
        ShowStored(session, answer.json);
        return kExitOk;
    }
    if (!session.process.terminal.in) {
        return Error(Code::kInvalidArgument,
                     "there is no terminal for an editor: give the definition with -f FILE");
    }
    const std::string text = DefinitionPart(before.json).Pretty() + "\n";
    KSANA_TRY(EditedFile file, EditedFile::Make(text, session.process));
    KSANA_TRY(const std::string edited, file.Edit(session.process));
    if (edited == text) {
        session.Note("Nothing was changed.");
        return kExitOk;
    }
    const auto stored = Store(session, edited, tag);
    if (!stored) {
        const int code = Fail(stored.error(), session.output);
        const std::string& kept = file.Keep();
        session.Note(
            fmt::format("Your text is kept in {0}\n"
                        "Compare it with what is there now: ksana job get {1} -o json\n"
                        "Then store it with: ksana job edit {1} -f {0}",
                        kept, id));
        return code;
    }
    ShowStored(session, *stored);
    return kExitOk;
}

}  // namespace ksana::app
