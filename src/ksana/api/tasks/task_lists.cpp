#include "ksana/api/tasks/task_lists.hpp"

#include <algorithm>

#include "ksana/codec/dialects/task_dialect.hpp"
#include "ksana/http_server/routing/problem.hpp"
#include "ksana/model/vocabulary.hpp"
#include "ksana/store/page.hpp"

namespace ksana::api {
namespace {

using http_server::JsonResponse;
using http_server::Request;
using http_server::Response;
using model::Run;

// Two status words of the document share states of the model, so runs are filtered after the read.
// A page ends early, with a cursor, after kMostLooks reads of kAtOnce runs, or when the found runs
// exceed kMaxListBytes: a run may take a megabyte.
constexpr std::size_t kMostLooks = 40;
constexpr std::size_t kAtOnce = 100;
constexpr std::size_t kMaxListBytes = std::size_t{8} << 20;

// Which runs a status filter selects. New and Error both mean a run that waits; its failures tell
// them apart.
struct StatusFilter {
    model::RunStates states = 0;
    bool fresh = false;          // New is selected
    bool after_failure = false;  // Error is selected

    bool Wants(const Run& run) const {
        const bool waits = run.status.state == model::RunState::kScheduled ||
                           run.status.state == model::RunState::kQueued;
        if (!waits) return true;
        return run.status.failures > 0 ? after_failure : fresh;
    }
};

// Reads status=New&status=Error as alternatives. Without any, selects all of `otherwise`.
StatusFilter ReadStatus(QueryReader& reader, model::RunStates otherwise) {
    StatusFilter wish;
    for (const std::string_view word : reader.All("status")) {
        const auto meaning = model::MeaningOf(model::Dialect::kTask, word);
        if (!meaning) {
            reader.NotAllowed("status", word, model::WordsOf(model::Dialect::kTask));
            continue;
        }
        wish.states = static_cast<model::RunStates>(wish.states | meaning->states);
        if (meaning->after_failure) {
            (*meaning->after_failure ? wish.after_failure : wish.fresh) = true;
        }
    }
    if (wish.states == 0) return {.states = otherwise, .fresh = true, .after_failure = true};
    return wish;
}

std::size_t ShownBytes(const Run& run) {
    return run.payload.size() + run.status.result.size() + run.status.last_error.size();
}

// Returns the runs of a query for which `wants` is true, newest first, up to the limit of the
// query, with the cursor after the last one.
template <class Wants>
Result<store::Page<Run>> Collect(store::Store& store, store::RunQuery query, const Wants& wants) {
    store::Page<Run> found;
    const std::size_t limit = query.limit;
    std::size_t bytes = 0;
    query.limit = std::min(limit, kAtOnce);
    query.look = kMostLooks * kAtOnce;
    for (std::size_t looks = 0; looks < kMostLooks; ++looks) {
        KSANA_TRY(store::Page<Run> page, store.runs().List(query));
        for (std::size_t i = 0; i < page.items.size(); ++i) {
            Run& run = page.items[i];
            if (!wants(run)) continue;
            bytes += ShownBytes(run);
            found.items.push_back(std::move(run));
            if (found.items.size() < limit && bytes < kMaxListBytes) continue;
            const bool last = i + 1 == page.items.size();
            found.next = last ? page.next : store::RunsAfter(found.items.back().id);
            return found;
        }
        found.next = page.next;
        query.cursor = page.next;
        query.limit = kAtOnce;  // the rest of the limit may be one run, far away
        if (page.next.empty() || page.ended_early) break;
    }
    return found;
}

}  // namespace

Response WithNextPage(const Request& request, Response response, const std::string& next) {
    if (next.empty()) return response;
    response.headers.emplace_back("Link", http_server::NextLink(request, next));
    response.headers.emplace_back("X-Next-Cursor", next);
    return response;
}

Result<Response> ListTasks(const Request& request, store::Store& store, model::RunStates states) {
    QueryReader reader(request);
    store::RunQuery query;
    const StatusFilter wish = ReadStatus(reader, states);
    query.filter.states = wish.states;
    query.filter.kind = model::ActionKind::kQueue;
    query.filter.type = reader.Text("type");
    query.filter.category = reader.Text("category");
    query.filter.tenant = reader.Text("tenant_id");
    query.filter.creator = reader.Text("creator");
    ReadPlace(reader, query);
    KSANA_TRY_VOID(reader.Finish());
    KSANA_TRY(const store::Page<Run> page,
              Collect(store, query, [&wish](const Run& run) { return wish.Wants(run); }));
    return WithNextPage(request, JsonResponse(200, codec::TasksToJson(page.items)), page.next);
}

Result<Response> ListPeriodicLog(const Request& request, store::Store& store) {
    QueryReader reader(request);
    store::RunQuery query;
    query.filter.job_id = reader.Text("periodic_task_id");
    query.filter.tenant = reader.Text("tenant_id");
    if (query.filter.job_id.empty()) reader.Fault("periodic_task_id", "is missing", "required");
    query.filter.kind = model::ActionKind::kQueue;
    ReadPlace(reader, query);
    KSANA_TRY_VOID(reader.Finish());
    KSANA_TRY(const store::Page<Run> page, Collect(store, query, [](const Run& run) {
                  return run.policy.run_log != model::RunLog::kNone;
              }));
    return WithNextPage(request, JsonResponse(200, codec::PeriodicLogToJson(page.items)),
                        page.next);
}

}  // namespace ksana::api
