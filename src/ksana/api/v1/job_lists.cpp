#include "ksana/api/v1/handlers.hpp"

#include "ksana/api/edge/list_answer.hpp"
#include "ksana/api/edge/object_text.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/codec/v1/job_view.hpp"

namespace ksana::api {
namespace {

using http_server::Method;
using http_server::Permission;
using http_server::Request;
using http_server::Response;

// label=name=value, as often as one likes; the name ends at the first "=".
void ReadLabels(api::QueryReader& reader, TextMap& labels) {
    for (const std::string_view text : reader.All("label")) {
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos || equals == 0) {
            reader.Fault("label", "must be name=value");
        } else if (!labels.Add(std::string(text.substr(0, equals)),
                               std::string(text.substr(equals + 1)))) {
            reader.Fault("label", "names a label twice", "repeated");
        }
    }
}

store::JobFilter ReadFilter(api::QueryReader& reader) {
    store::JobFilter filter;
    filter.tenant = reader.Text("tenant");
    filter.name = reader.Text("name");
    filter.group = reader.Text("group");
    filter.owner = reader.Text("owner");
    filter.enabled = reader.Flag("enabled");
    filter.kind = reader.Name<model::ActionKind>("type");
    filter.type = reader.Text("queue_type");
    filter.calendar = reader.Text("calendar");
    filter.last_state = reader.Name<model::RunState>("last_state");
    ReadLabels(reader, filter.labels);
    filter.text = reader.Text("q");
    return filter;
}

Result<Response> ListJobs(HandlerContext& context, const Request& request) {
    api::QueryReader reader(request);
    store::JobQuery query;
    query.filter = ReadFilter(reader);
    ReadSort(reader, query.sort, query.descending);
    PageWish wish = ReadPage(reader, true);
    KSANA_TRY_VOID(reader.Finish());
    KSANA_TRY_VOID(OpenCursor(request, context.cursors, wish));
    store::JobStore& jobs = context.services.store.jobs();
    const auto list_jobs = [&](std::size_t limit, const std::string& cursor) {
        query.limit = limit;
        query.cursor = cursor;
        query.look = LooksAtOnce(wish);
        return jobs.List(query);
    };
    KSANA_TRY(ListPage list, FillPage(wish, list_jobs, codec::JobViewToJson));
    if (wish.total) {
        KSANA_TRY(list.total, jobs.CountWithin(query.filter, kTotalBounds));
    }
    return ListAnswer(request, context.cursors, list);
}

std::string EntryText(const model::LedgerEntry& entry) {
    return ObjectText()
        .Put("seq", entry.seq)
        .Put("job_id", entry.job_id)
        .Put("fate", model::NameOf(entry.range.fate))
        .Put("count", entry.range.range.count)
        .Put("first", entry.range.range.first)
        .Put("last", entry.range.range.last)
        .Put("recorded_at", entry.recorded_at)
        .Take();
}

// Also of a job that is gone: the account of its fires stays.
Result<Response> ListLedger(HandlerContext& context, const Request& request) {
    api::QueryReader reader(request);
    store::LedgerParams params{.job_id = request.Parameter("id"),
                               .from = reader.Time("from"),
                               .until = reader.Time("until"),
                               .limit = kListSize,
                               .cursor = {}};
    PageWish wish = ReadPage(reader, false);
    KSANA_TRY_VOID(reader.Finish());
    KSANA_TRY_VOID(OpenCursor(request, context.cursors, wish));
    store::JobStore& jobs = context.services.store.jobs();
    const auto list_entries = [&](std::size_t limit, const std::string& cursor) {
        params.limit = limit;
        params.cursor = cursor;
        return jobs.Ledger(params);
    };
    KSANA_TRY(const ListPage list, FillPage(wish, list_entries, EntryText));
    if (list.items.empty() && wish.cursor.empty()) {
        KSANA_TRY([[maybe_unused]] const model::Job job, jobs.Get(params.job_id));
    }
    return ListAnswer(request, context.cursors, list);
}

}  // namespace

void AddJobListRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    AddRoute(router, context, {Method::kGet, "/jobs", Permission::kRead, "Lists jobs"},
             [context](const Call& call) { return ListJobs(*context, call.request); });
    AddRoute(router, context,
             {Method::kGet, "/jobs/{id}/ledger", Permission::kRead,
              "The fires of a job that made no run"},
             [context](const Call& call) { return ListLedger(*context, call.request); });
}

}  // namespace ksana::api
