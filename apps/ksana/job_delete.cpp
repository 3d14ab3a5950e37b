#include "ksana/job_delete.hpp"

#include <fmt/core.h>

#include "ksana/base/utf8.hpp"
#include "ksana/client/api_list.hpp"
#include "ksana/job_filter.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;

struct Chosen {
    std::vector<std::string> ids;
    bool more = false;  // than we can hold
};

Result<Chosen> ByFilter(Session& session) {
    KSANA_TRY(client::Query query, JobFilterQuery(session.arguments));
    query.emplace_back("sort", "id");
    KSANA_TRY(const auto list,
              client::ListAll(session.api, ApiPath({"jobs"}), query, client::kMostListed));
    Chosen chosen;
    for (const codec::Json& job : list.items) chosen.ids.push_back(job.TextAt("/id"));
    chosen.more = !list.next_cursor.empty();
    return chosen;
}

// One that somebody else has deleted first is as good as deleted by us.
Result<void> DeleteOne(Session& session, const std::string& id, bool by_filter) {
    const auto answer = session.api.Delete(ApiPath({"jobs", id}));
    if (answer || (by_filter && answer.error().code == Code::kNotFound)) return {};
    return answer.error();
}

Result<int> DeleteAll(Session& session, const Chosen& chosen, bool by_filter) {
    int worst = kExitOk;
    std::size_t count = 0;
    for (const std::string& id : chosen.ids) {
        const auto done = DeleteOne(session, id, by_filter);
        if (done) {
            ++count;
            continue;
        }
        worst = Fail(Error(done.error()).WithContext(Printable(id)), session.output);
        // Nothing that comes after it would fare better.
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

Result<int> DeleteJobs(Session& session) {
    const auto& ids = session.arguments.words();
    const bool by_filter = HasJobFilter(session.arguments) || session.arguments.Has("all");
    if (by_filter == !ids.empty()) {
        return Error(Code::kInvalidArgument,
                     by_filter ? "ids and filters cannot both be given"
                               : "say which: an ID, --group NAME, another filter, or --all");
    }
    if (ids.size() == 1) {
        // Asked about only if it is there.
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

}  // namespace ksana::app
