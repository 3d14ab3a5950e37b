#include "apps/ksana/job/job_delete.hpp"

#include <fmt/core.h>

#include "apps/ksana/job/job_definition.hpp"
#include "apps/ksana/job/job_filter.hpp"
#include "apps/ksana/toolkit/editor.hpp"
#include "apps/ksana/toolkit/item_view.hpp"
#include "apps/ksana/toolkit/text_file.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/client/api_list.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;

struct Chosen {
    std::vector<std::string> ids;
    bool more = false;  // than the client can list
};

Result<Chosen> ByFilter(ApiSession& session) {
    KSANA_TRY(client::Query query, JobFilterQuery(session.arguments));
    query.emplace_back("sort", "id");
    KSANA_TRY(const auto list,
              client::ListAll(session.api, ApiPath({"jobs"}), query, client::kMostListed));
    Chosen chosen;
    for (const codec::Json& job : list.items) chosen.ids.push_back(job.TextAt("/id"));
    chosen.more = !list.next_cursor.empty();
    return chosen;
}

// Deletes one job. A job selected by filter may be gone already; that counts as deleted.
Result<void> DeleteOne(ApiSession& session, const std::string& id, bool by_filter) {
    const auto answer = session.api.Delete(ApiPath({"jobs", id}));
    if (answer || (by_filter && answer.error().code == Code::kNotFound)) return {};
    return answer.error();
}

Result<int> DeleteAll(ApiSession& session, const Chosen& chosen, bool by_filter) {
    int worst = kExitOk;
    std::size_t count = 0;
    for (const std::string& id : chosen.ids) {
        const auto done = DeleteOne(session, id, by_filter);
        if (done) {
            ++count;
            continue;
        }
        worst = Fail(Error(done.error()).WithContext(Printable(id)), session.output);
        // The server is unreachable: the remaining deletions would fail, too.
        if (done.error().code == Code::kUnavailable) break;
    }
    session.output.out += fmt::format("deleted {} {}{}\n", count, count == 1 ? "job" : "jobs",
                                      chosen.more ? "; there are more" : "");
    return worst;
}

}  // namespace

std::vector<OptionSpec> DeleteOptions() {
    std::vector<OptionSpec> options = JobFilterOptions();
    options.push_back({"all", '\0', "", "every job there is", ""});
    return options;
}

Result<int> DeleteJobs(ApiSession& session) {
    const auto& ids = session.arguments.words();
    const bool by_filter = HasJobFilter(session.arguments) || session.arguments.Has("all");
    if (by_filter == !ids.empty()) {
        return Error(Code::kInvalidArgument,
                     by_filter ? "ids and filters cannot both be given"
                               : "say which: an ID, --group NAME, another filter, or --all");
    }
    if (ids.size() == 1) {
        // Checks that the job exists before asking.
        KSANA_TRY(const auto job, session.api.Get(ApiPath({"jobs", ids[0]})));
        KSANA_TRY(const bool sure, Confirm(session, fmt::format("Delete the job {} ({})?", ids[0],
                                                                job.json.TextAt("/name"))));
        if (!sure) return kExitFailed;
        KSANA_TRY_VOID(DeleteOne(session, ids[0], false));
        session.output.out += fmt::format("deleted {}\n", ids[0]);
        return kExitOk;
    }
    Chosen chosen{ids};
    if (by_filter) {
        KSANA_TRY(chosen, ByFilter(session));
    }
    if (chosen.ids.empty()) {
        session.Note("There are no such jobs.");
        return kExitOk;
    }
    if (!session.arguments.Has("yes")) {
        return Error(Code::kInvalidArgument,
                     fmt::format("this deletes {}{} jobs, {} first: say --yes",
                                 chosen.more ? "more than " : "", chosen.ids.size(),
                                 Printable(chosen.ids[0])));
    }
    return DeleteAll(session, chosen, by_filter);
}

namespace {

using client::ApiAnswer;
using client::ApiPath;
using codec::Json;

void ShowStored(ApiSession& session, const Json& job) {
    ShowChange(session, job,
               fmt::format("changed {}, version {}", job.TextAt("/id"), job.TextAt("/version")));
}

// Stores the edited text only if the job has not changed since it was read.
Result<Json> Store(ApiSession& session, const std::string& text, const std::string& tag) {
    auto edited = Json::Parse(text);
    if (!edited) return std::move(edited).error().WithContext("the edited text");
    auto answer = session.api.Put(ApiPath({"jobs", session.Word(0)}), *edited, tag);
    if (answer) return answer->json;
    Error error = std::move(answer).error();
    if (error.code != Code::kConflict) return error;
    return std::move(error).WithContext("somebody else has changed the job meanwhile");
}

}  // namespace

Result<int> EditJob(ApiSession& session) {
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
