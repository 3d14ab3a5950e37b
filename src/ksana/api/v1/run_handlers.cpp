#include "ksana/api/v1/handlers.hpp"

#include <fmt/core.h>

#include "ksana/api/edge/entity_tag.hpp"
#include "ksana/api/edge/guard.hpp"
#include "ksana/api/edge/list_answer.hpp"
#include "ksana/api/edge/object_text.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "ksana/codec/v1/run_view.hpp"
#include "ksana/engine/services/run_service.hpp"
#include "ksana/insight/explain/explain.hpp"
#include "ksana/insight/spans/run_spans.hpp"
#include "ksana/insight/spans/spans_json.hpp"

namespace ksana::api {
namespace {

using codec::ObjectSchema;
using codec::Schema;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using model::Run;
using model::RunState;

// Reads state=failed&state=timed_out as alternatives.
model::RunStates ReadRunStates(api::QueryReader& reader) {
    model::RunStates states = 0;
    for (const std::string_view name : reader.All("state")) {
        if (const auto state = model::FromName<RunState>(name)) {
            states = static_cast<model::RunStates>(states | model::SetOf(*state));
        } else {
            reader.NotAllowed("state", name, model::EnumNames<RunState>::kNames);
        }
    }
    return states == 0 ? model::kAllStates : states;
}

store::RunFilter ReadRunFilter(api::QueryReader& reader) {
    store::RunFilter filter;
    filter.states = ReadRunStates(reader);
    filter.tenant = reader.Text("tenant");
    filter.type = reader.Text("type");
    filter.category = reader.Text("category");
    filter.creator = reader.Text("creator");
    filter.owner = reader.Text("owner");
    filter.kind = reader.Name<model::ActionKind>("kind");
    filter.trigger = reader.Name<model::RunTrigger>("trigger");
    filter.parent = reader.Id("parent");
    filter.finished_from = reader.Time("finished_from");
    filter.finished_until = reader.Time("finished_until");
    filter.text = reader.Text("q");
    return filter;
}

// Handlers of runs. The routes share one object; pool threads call it concurrently.
class RunHandlers {
  public:
    explicit RunHandlers(std::shared_ptr<HandlerContext> context)
        : context_(std::move(context)),
          store_(context_->services.store),
          runs_(context_->services.runs) {}

    Result<Response> List(const Call& call) const { return ListOf(call.request, std::nullopt); }

    Result<Response> ListOfJob(const Call& call) const {
        const std::string& id = call.request.Parameter("id");
        KSANA_TRY([[maybe_unused]] const model::Job job, store_.jobs().Get(id));
        return ListOf(call.request, id);
    }

    Result<Response> Get(const Call& call) const {
        api::QueryReader reader(call.request);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY(const Uuid id, RunIdOf(call.request));
        KSANA_TRY(const store::RunHistory history, store_.runs().Get(id));
        Response response = JsonResponse(
            200, codec::RunHistoryToJson(history.run, history.attempts, UnservedText(history.run)));
        std::string tag = BodyTag(response.body);
        return WithTag(call.request, std::move(response), std::move(tag));
    }

    Result<Response> Spans(const Call& call) const {
        api::QueryReader reader(call.request);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY(const Uuid id, RunIdOf(call.request));
        KSANA_TRY(const auto spans, insight::ReadSpans(store_, id));
        return JsonResponse(200, insight::SpansToJson(spans));
    }

    // Why nobody can take a run that is ready; empty if somebody can.
    std::string UnservedText(const model::Run& run) const {
        const bool ready = run.status.state == model::RunState::kQueued && !run.status.blocked;
        if (!ready || !context_->services.node_view) return {};
        const insight::NodeView node = context_->services.node_view();
        if (!node.served || node.served(run)) return {};
        std::string text =
            fmt::format("no live worker serves {}{}{} since {}", model::NameOf(run.kind),
                        run.type.empty() ? "" : " ", run.type, FormatTime(run.status.ready_at));
        std::string_view before = ", with the labels ";
        for (const auto& [name, value] : run.selector) {
            text += fmt::format("{}{}={}", before, name, value);
            before = ", ";
        }
        return text;
    }

    // 202: the owner of the run was asked to stop it.
    Result<Response> Cancel(const Call& call) const {
        KSANA_TRY_VOID(codec::CheckEmptyBody(call.request.body));
        KSANA_TRY(const Uuid id, RunIdOf(call.request));
        KSANA_TRY(const Run run, runs_.Cancel(id, api::ActorOf(call.request)));
        return JsonResponse(model::IsFinal(run.status.state) ? 200 : 202,
                            codec::RunViewToJson(run));
    }

    Result<Response> Retry(const Call& call) const {
        KSANA_TRY_VOID(codec::CheckEmptyBody(call.request.body));
        KSANA_TRY(const Uuid id, RunIdOf(call.request));
        KSANA_TRY(const Run run, runs_.Retry(id, call.id, api::ActorOf(call.request)));
        Response response = JsonResponse(202, codec::RunViewToJson(run));
        response.headers.emplace_back("Location", "/api/v1/runs/" + run.id.ToString());
        return response;
    }

    Result<Response> Resolve(const Call& call) const {
        return ByHand(call, &engine::RunService::Resolve);
    }
    Result<Response> SendBack(const Call& call) const {
        return ByHand(call, &engine::RunService::SendBack);
    }
    Result<Response> Hold(const Call& call) const {
        return ByHand(call, &engine::RunService::Hold);
    }

    Result<Response> Delete(const Call& call) const {
        KSANA_TRY(const Uuid id, RunIdOf(call.request));
        KSANA_TRY_VOID(runs_.Delete(id, api::ActorOf(call.request)));
        return http_server::NoContent();
    }

    Result<Response> Purge(const Call& call) const {
        KSANA_TRY(const codec::PurgeRequest wish, codec::PurgeRequestFromJson(call.request.body));
        KSANA_TRY(const auto purged, runs_.Purge({.finished_before = wish.finished_before,
                                                  .states = wish.states,
                                                  .dry_run = wish.dry_run},
                                                 api::ActorOf(call.request)));
        return JsonResponse(200, ObjectText()
                                     .Put("runs", purged.runs)
                                     .Put("more", purged.more)
                                     .Put("dry_run", wish.dry_run)
                                     .Take());
    }

  private:
    using Act = Result<Run> (engine::RunService::*)(const Uuid&, const std::string&,
                                                    const engine::Actor&);

    Result<Response> ByHand(const Call& call, Act act) const {
        KSANA_TRY(const codec::RemarkRequest wish, codec::RemarkRequestFromJson(call.request.body));
        KSANA_TRY(const Uuid id, RunIdOf(call.request));
        KSANA_TRY(const Run run, (runs_.*act)(id, wish.remark, api::ActorOf(call.request)));
        return JsonResponse(200, codec::RunViewToJson(run));
    }

    Result<Response> ListOf(const Request& request, std::optional<std::string> job_id) const {
        api::QueryReader reader(request);
        store::RunQuery query;
        query.filter = ReadRunFilter(reader);
        query.filter.job_id = job_id ? *std::move(job_id) : reader.Text("job");
        ReadSort(reader, query.sort, query.descending);
        PageParams wish = ReadPage(reader, true);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY_VOID(OpenCursor(request, context_->cursors, wish));
        const auto list_runs = [&](std::size_t limit, const std::string& cursor) {
            query.limit = limit;
            query.cursor = cursor;
            query.look = LooksAtOnce(wish);
            return store_.runs().List(query);
        };
        KSANA_TRY(ListPage list, FillPage(wish, list_runs, codec::RunViewToJson));
        if (wish.total) {
            KSANA_TRY(list.total, store_.runs().CountWithin(query.filter, kTotalBounds));
        }
        return ListAnswer(request, context_->cursors, list);
    }

    std::shared_ptr<HandlerContext> context_;
    store::Store& store_;
    engine::RunService& runs_;
};

Schema MakeStates() { return Schema::ListOf(Schema::Name<RunState>()); }
Schema MakeRunSort() { return SortNames<store::RunSort>().Default("-id"); }

constexpr Parameter kListRunsParameters[] = {
    {"job", "Of this job."},
    {.name = "state", .means = "In one of these states.", .schema = &MakeStates, .repeats = true},
    kTenantFilter,
    kTypeFilter,
    {"category", "Of this category."},
    {"creator", "Made by this one."},
    {"owner", "Whose current or last attempt this one had."},
    {"kind", "Carried out so.", &Schema::Name<model::ActionKind>},
    {"trigger", "Made by this.", &Schema::Name<model::RunTrigger>},
    kParentFilter,
    {"finished_from", "Finished at or after.", &Schema::Time},
    {"finished_until", "Finished before.", &Schema::Time},
    kWords,
    {"sort",
     "Order; with - the other way round. finished_at lists final runs only, ready_at those that "
     "are not over.",
     &MakeRunSort},
};
// Without `job`, which the path names.
constexpr std::span kListJobRunsParameters = std::span(kListRunsParameters).subspan(1);

Schema MakePurged() {
    return ObjectSchema("What a purge came to.")
        .Need("runs", Schema::Int().Between(0, 100'000).Means("How many runs."))
        .Need("more", Schema::Flag().Means(
                          "There are more: send it again. Of a dry run: more than it counts."))
        .Need("dry_run", Schema::Flag().Means("Nothing was deleted."));
}

constexpr codec::NamedSchema kPurged{"Purged", &MakePurged};
constexpr codec::NamedSchema kRunPage{"RunPage", &MakeCountedPage<codec::kRunSchema>};

constexpr RouteInfo kListJobRuns{.method = HttpMethod::kGet,
                                 .path = "/jobs/{id}/runs",
                                 .permission = Permission::kRead,
                                 .id = "listJobRuns",
                                 .tag = Tag::kRuns,
                                 .summary = "Lists the runs of a job",
                                 .subject = &kJobId,
                                 .parameters = kListJobRunsParameters,
                                 .paging = Paging::kCountedPages,
                                 .answers = {{{200, "A page.", &kRunPage}}}};

constexpr RouteInfo kListRuns{
    .method = HttpMethod::kGet,
    .path = "/runs",
    .permission = Permission::kRead,
    .id = "listRuns",
    .tag = Tag::kRuns,
    .summary = "Lists runs",
    .parameters = kListRunsParameters,
    .paging = Paging::kCountedPages,
    .answers = {{{200, "A page, the newest first unless told otherwise.", &kRunPage}}}};

constexpr RouteInfo kGetRun{.method = HttpMethod::kGet,
                            .path = "/runs/{id}",
                            .permission = Permission::kRead,
                            .id = "getRun",
                            .tag = Tag::kRuns,
                            .summary = "Shows a run with its attempts",
                            .subject = &kRunId,
                            .answers = {{{200, "The run.", &codec::kRunHistorySchema, kETag}}}};

constexpr RouteInfo kGetSpans{
    .method = HttpMethod::kGet,
    .path = "/runs/{id}/spans",
    .permission = Permission::kRead,
    .id = "getRunSpans",
    .tag = Tag::kRuns,
    .summary = "Shows the trace of a run",
    .more =
        "The same spans as those that the server exports, computed from the record of the run "
        "and of its callbacks.",
    .subject = &kRunId,
    .answers = {{{200, "Its spans.", &insight::kRunSpansSchema}}}};

constexpr RouteInfo kDeleteRun{
    .method = HttpMethod::kDelete,
    .path = "/runs/{id}",
    .permission = Permission::kWrite,
    .id = "deleteRun",
    .tag = Tag::kRuns,
    .summary = "Deletes a run that is over",
    .subject = &kRunId,
    .answers = {{{204, "It is gone, with its attempts. The ledger says so where it was a fire."}}},
    .ignores_match = true};

constexpr RouteInfo kCancelRun{
    .method = HttpMethod::kPost,
    .path = "/runs/{id}/cancel",
    .permission = Permission::kOperate,
    .id = "cancelRun",
    .tag = Tag::kRuns,
    .summary = "Stops a run",
    .subject = &kRunId,
    .body = &codec::kNothingSchema,
    .body_need = BodyNeed::kOptional,
    .answers = {{{200, "It is cancelled.", &codec::kRunSchema},
                 {202, "It runs; its worker has been asked to stop.", &codec::kRunSchema}}}};

constexpr RouteInfo kRetryRun{
    .method = HttpMethod::kPost,
    .path = "/runs/{id}/retry",
    .permission = Permission::kOperate,
    .id = "retryRun",
    .tag = Tag::kRuns,
    .summary = "Runs again what did not succeed",
    .more =
        "A final state is never left, so a run that is over is followed by a new one with the same "
        "parameters.",
    .subject = &kRunId,
    .body = &codec::kNothingSchema,
    .body_need = BodyNeed::kOptional,
    .answers = {
        {{202, "What runs: the run itself if it was held, else a new one whose parent it is.",
          &codec::kRunSchema, kLocation}}}};

constexpr RouteInfo kPurgeRuns{.method = HttpMethod::kPost,
                               .path = "/runs/purge",
                               .permission = Permission::kWrite,
                               .id = "purgeRuns",
                               .tag = Tag::kRuns,
                               .summary = "Deletes runs that ended long ago",
                               .more =
                                   "The oldest first, with their attempts, at most 10000 in a "
                                   "request. There is no way back; a dry run only counts.",
                               .body = &codec::kPurgeRequestSchema,
                               .answers = {{{200, "How many it were, or would be.", &kPurged}}}};

constexpr RouteInfo kResolveRun{
    .method = HttpMethod::kPost,
    .path = "/runs/{id}/resolve",
    .permission = Permission::kOperate,
    .id = "resolveRun",
    .tag = Tag::kRuns,
    .summary = "Closes a run that is held",
    .more = "A person has done its work, or found that it need not be done.",
    .subject = &kRunId,
    .body = &codec::kRemarkRequestSchema,
    .body_need = BodyNeed::kOptional,
    .answers = {{{200, "The run as it is now.", &codec::kRunSchema}}}};

constexpr RouteInfo kSendBackRun{.method = HttpMethod::kPost,
                                 .path = "/runs/{id}/send-back",
                                 .permission = Permission::kOperate,
                                 .id = "sendBackRun",
                                 .tag = Tag::kRuns,
                                 .summary = "Lets a run that is held go on",
                                 .more = "It goes back to the queue with its retries anew.",
                                 .subject = &kRunId,
                                 .body = &codec::kRemarkRequestSchema,
                                 .body_need = BodyNeed::kOptional,
                                 .answers = {{{200, "The run as it is now.", &codec::kRunSchema}}}};

constexpr RouteInfo kHoldRun{.method = HttpMethod::kPost,
                             .path = "/runs/{id}/hold",
                             .permission = Permission::kOperate,
                             .id = "holdRun",
                             .tag = Tag::kRuns,
                             .summary = "Keeps a run that waits for a person",
                             .more = "Only what is scheduled or queued.",
                             .subject = &kRunId,
                             .body = &codec::kRemarkRequestSchema,
                             .body_need = BodyNeed::kOptional,
                             .answers = {{{200, "The run as it is now.", &codec::kRunSchema}}}};

}  // namespace

Result<Uuid> RunIdOf(const http_server::Request& request) {
    const std::string& text = request.Parameter("id");
    const auto id = Uuid::Parse(text);
    if (id) return *id;
    return Error(Code::kNotFound, fmt::format("there is no run \"{}\"", text));
}

void AddRunRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    const auto handlers = std::make_shared<const RunHandlers>(context);
    const auto add = [&](const RouteInfo& info, auto handler) {
        AddRoute(router, context, info,
                 [handlers, handler](const Call& call) { return ((*handlers).*handler)(call); });
    };
    add(kListRuns, &RunHandlers::List);
    add(kListJobRuns, &RunHandlers::ListOfJob);
    add(kGetRun, &RunHandlers::Get);
    add(kGetSpans, &RunHandlers::Spans);
    add(kDeleteRun, &RunHandlers::Delete);
    add(kPurgeRuns, &RunHandlers::Purge);
    add(kCancelRun, &RunHandlers::Cancel);
    add(kRetryRun, &RunHandlers::Retry);
    add(kResolveRun, &RunHandlers::Resolve);
    add(kSendBackRun, &RunHandlers::SendBack);
    add(kHoldRun, &RunHandlers::Hold);
}

}  // namespace ksana::api
