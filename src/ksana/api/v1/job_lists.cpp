#include "ksana/api/v1/handlers.hpp"

#include "ksana/api/edge/list_answer.hpp"
#include "ksana/api/edge/object_text.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/codec/v1/job_view.hpp"

namespace ksana::api {
namespace {

using codec::ObjectSchema;
using codec::Schema;
using http_server::Permission;
using http_server::Request;
using http_server::Response;

// Reads label=name=value, any number of times. The name ends at the first "=".
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
    PageParams wish = ReadPage(reader, true);
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

// Works for a deleted job as well: the ledger of its fires stays.
Result<Response> ListLedger(HandlerContext& context, const Request& request) {
    api::QueryReader reader(request);
    store::LedgerParams params{.job_id = request.Parameter("id"),
                               .from = reader.Time("from"),
                               .until = reader.Time("until"),
                               .limit = kListSize,
                               .cursor = {}};
    PageParams wish = ReadPage(reader, false);
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

Schema MakeLabels() { return Schema::ListOf(Schema::Text().Pattern("^[^=]+=")); }
Schema MakeJobSort() { return SortNames<store::JobSort>().Default("id"); }

constexpr Parameter kListJobsParameters[] = {
    kTenantFilter,
    {"name", "Of exactly this name."},
    {"group", "Of this group."},
    {"owner", "Of this owner."},
    {"type", "That do this.", &Schema::Name<model::ActionKind>},
    {"queue_type", "The type of a queue action, the name of a handler."},
    {"calendar", "Whose schedules go by this calendar."},
    {"enabled", "false: the paused ones.", &Schema::Flag},
    {"last_state", "Whose last run ended so.", &Schema::Name<model::RunState>},
    {.name = "label",
     .means = "name=value; a job must have all that are given.",
     .schema = &MakeLabels,
     .repeats = true},
    kWords,
    {"sort", "Order; with - the other way round. Jobs without the time come last.", &MakeJobSort},
};
constexpr Parameter kListJobLedgerParameters[] = {kFrom, kUntil};

Schema MakeLedgerEntry() {
    return ObjectSchema("Fires that made no run, as one entry however many they are.")
        .Need("seq", Schema::Count().Means("Grows."))
        .Need("job_id", Schema::Text().Means("The job whose fires they are."))
        .Need("fate", Schema::Name<model::FireFate>().Means("What became of them."))
        .Need("count", Schema::Count().Means("How many fires."))
        .Need("first", Schema::Time().Means("The first of them."))
        .Need("last", Schema::Time().Means("The last of them."))
        .Need("recorded_at", Schema::Time().Means("When this was written."));
}

constexpr codec::NamedSchema kLedgerEntry{"LedgerEntry", &MakeLedgerEntry};
constexpr codec::NamedSchema kLedgerPage{"LedgerPage", &MakePage<kLedgerEntry>};
constexpr codec::NamedSchema kJobPage{"JobPage", &MakeCountedPage<codec::kJobSchema>};

constexpr RouteInfo kListJobs{.method = HttpMethod::kGet,
                              .path = "/jobs",
                              .permission = Permission::kRead,
                              .id = "listJobs",
                              .tag = Tag::kJobs,
                              .summary = "Lists jobs",
                              .parameters = kListJobsParameters,
                              .paging = Paging::kCountedPages,
                              .answers = {{{200, "A page.", &kJobPage}}}};

constexpr RouteInfo kListJobLedger{
    .method = HttpMethod::kGet,
    .path = "/jobs/{id}/ledger",
    .permission = Permission::kRead,
    .id = "listJobLedger",
    .tag = Tag::kJobs,
    .summary = "The fires of a job that made no run",
    .subject = &kJobId,
    .parameters = kListJobLedgerParameters,
    .paging = Paging::kPages,
    .answers = {{{200,
                  "A page, in the order in which they were recorded. Together with the runs that "
                  "have a nominal time these are all the fires there were.",
                  &kLedgerPage}}}};

}  // namespace

void AddJobListRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    AddRoute(router, context, kListJobs,
             [context](const Call& call) { return ListJobs(*context, call.request); });
    AddRoute(router, context, kListJobLedger,
             [context](const Call& call) { return ListLedger(*context, call.request); });
}

}  // namespace ksana::api
