#include "ksana/api/v1/handlers.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>

#include "ksana/api/edge/entity_tag.hpp"
#include "ksana/api/edge/guard.hpp"
#include "ksana/api/edge/object_text.hpp"
#include "ksana/api/edge/query_reader.hpp"
#include "ksana/api/v1/bulk_jobs.hpp"
#include "ksana/codec/v1/job_view.hpp"
#include "ksana/codec/v1/run_view.hpp"

namespace ksana::api {
namespace {

using codec::ObjectSchema;
using codec::Schema;
using http_server::JsonResponse;
using http_server::Permission;
using http_server::Request;
using http_server::Response;
using model::Job;

constexpr std::size_t kMaxFires = 1'000;
constexpr std::size_t kFires = 10;

// In the order of schedule::DstNote.
constexpr std::array<std::string_view, 4> kNoteNames = {"none", "after_gap", "first_pass",
                                                        "second_pass"};

Response Show(const Job& job, int status) {
    Response response = JsonResponse(status, codec::JobViewToJson(job));
    response.headers.emplace_back("ETag", JobTag(job, response.body));
    return response;
}

Response Made(const Job& job) {
    Response response = Show(job, 201);
    response.headers.emplace_back("Location", "/api/v1/jobs/" + job.id);
    return response;
}

Response JobChanged412(const Request& request) {
    return Refuse(request, {.status = 412,
                            .code = "precondition_failed",
                            .detail = "the job is not what the condition asks for: read it again"});
}

Response Wanted428(const Request& request) {
    return Refuse(request, {.status = 428,
                            .code = "precondition_required",
                            .detail = "a PUT replaces the whole job: send If-Match with the ETag "
                                      "that was read, or If-None-Match: * to make it"});
}

// Handlers of jobs. The routes share one object; I/O threads (Get, if quick_reads) and pool threads
// call it concurrently.
class JobHandlers {
  public:
    explicit JobHandlers(const Services& services) : jobs_(services.jobs), store_(services.store) {}

    Result<Response> Create(const Call& call) const {
        KSANA_TRY(model::JobDefinition job, codec::JobFromView(call.request.body));
        const bool drawn = job.id.empty() && call.id;
        if (drawn) job.id = call.id->ToString();
        const std::string id = job.id;
        auto created = jobs_.Create(std::move(job), ByOf(call));
        if (!created && drawn && call.again && created.error().code == Code::kAlreadyExists) {
            created = store_.jobs().Get(id);  // created by an earlier try that stored no answer
        }
        if (!created) return created.error();
        return Made(*created);
    }

    Result<Response> Get(const Call& call) const {
        api::QueryReader reader(call.request);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY(const Job job, store_.jobs().Get(IdOf(call)));
        Response response = JsonResponse(200, codec::JobViewToJson(job));
        std::string tag = JobTag(job, response.body);
        return WithTag(call.request, std::move(response), std::move(tag));
    }

    Result<Response> Put(const Call& call) const {
        KSANA_TRY(const model::JobDefinition definition, codec::JobFromView(call.request.body));
        if (call.request.headers.Find("If-None-Match") == "*") return PutNew(call, definition);
        return Edit(call, true, [&](Job& job) { return codec::ReplaceJob(job, definition); });
    }

    Result<Response> Patch(const Call& call) const {
        return Edit(call, false, [&](Job& job) { return codec::PatchJob(job, call.request.body); });
    }

    Result<Response> Delete(const Call& call) const {
        const std::string& id = IdOf(call);
        KSANA_TRY(const Job job, store_.jobs().Get(id));
        const MatchResult wish = IfMatch(call.request, job);
        if (wish == MatchResult::kDiffers) return JobChanged412(call.request);
        const bool insists = wish == MatchResult::kMatches;
        const auto deleted =
            jobs_.Delete(id, insists ? std::optional(job.state.version) : std::nullopt, ByOf(call));
        if (deleted) return http_server::NoContent();
        if (insists && deleted.error().code == Code::kConflict) {
            // The job has changed since, or another job depends on it.
            KSANA_TRY(const Job now, store_.jobs().Get(id));
            if (IfMatch(call.request, now) != MatchResult::kMatches)
                return JobChanged412(call.request);
        }
        return deleted.error();
    }

    // 202: the run is stored and will be carried out.
    Result<Response> Run(const Call& call) const {
        KSANA_TRY(codec::RunRequest wish, codec::RunRequestFromJson(call.request.body));
        KSANA_TRY(const model::Run run, jobs_.RunNow({.id = IdOf(call),
                                                      .parameters = std::move(wish.parameters),
                                                      .obeys_overlap = wish.obeys_overlap,
                                                      .obeys_dependencies = wish.obeys_dependencies,
                                                      .run_id = call.id},
                                                     ByOf(call)));
        Response response = JsonResponse(202, codec::RunViewToJson(run));
        response.headers.emplace_back("Location", "/api/v1/runs/" + run.id.ToString());
        return response;
    }

    Result<Response> Pause(const Call& call) const {
        KSANA_TRY(const codec::PauseRequest wish, codec::PauseRequestFromJson(call.request.body));
        KSANA_TRY(const Job job, jobs_.Pause(IdOf(call), wish.reason, ByOf(call)));
        return Show(job, 200);
    }

    Result<Response> Resume(const Call& call) const {
        KSANA_TRY_VOID(codec::CheckEmptyBody(call.request.body));
        KSANA_TRY(const Job job, jobs_.Resume(IdOf(call), ByOf(call)));
        return Show(job, 200);
    }

    Result<Response> PauseMany(const Call& call) const { return ChangeMany(call, /*pause=*/true); }
    Result<Response> ResumeMany(const Call& call) const {
        return ChangeMany(call, /*pause=*/false);
    }

    Result<Response> Statistics(const Call& call) const {
        api::QueryReader reader(call.request);
        store::StatisticsParams params{
            .job_id = IdOf(call), .from = reader.Time("from"), .until = reader.Time("until")};
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY(const Job job, store_.jobs().Get(params.job_id));
        KSANA_TRY(const store::JobStatistics found, store_.jobs().Statistics(params));
        ObjectText text;
        text.Put("job_id", job.id).Put("from", params.from).Put("until", params.until);
        text.Put("runs", found.runs).Put("succeeded", found.succeeded).Put("failed", found.failed);
        text.Put("cancelled", found.cancelled).Put("skipped", found.skipped);
        text.Put("missed", found.missed).Put("success_rate", found.success_rate);
        text.Put("average", found.average).Put("p50", found.p50).Put("p90", found.p90);
        text.Put("p99", found.p99).Put("longest", found.longest).Put("sampled", found.sampled);
        text.Put("consecutive_failures", std::int64_t{job.state.consecutive_failures});
        return JsonResponse(200, text.Take());
    }

    Result<Response> Fires(const Call& call) const {
        api::QueryReader reader(call.request);
        const std::size_t count = reader.Number("count", 1, kMaxFires, kFires);
        KSANA_TRY_VOID(reader.Finish());
        KSANA_TRY(const Job job, store_.jobs().Get(IdOf(call)));
        KSANA_TRY(const auto fires, jobs_.NextFires(job, count));
        std::vector<std::string> items;
        items.reserve(fires.size());
        for (const engine::ComingFire& fire : fires) {
            items.push_back(ObjectText()
                                .Put("nominal_at", fire.nominal)
                                .Put("start_at", fire.start_at)
                                .Put("dst", kNoteNames.at(static_cast<std::size_t>(fire.note)))
                                .Take());
        }
        return JsonResponse(
            200, ObjectText()
                     .Put("enabled", job.enabled)
                     .Put("after_others", job.schedule.kind == schedule::ScheduleKind::kAfter)
                     .Raw("items", fmt::format("[{}]", fmt::join(items, ",")))
                     .Take());
    }

  private:
    static const std::string& IdOf(const Call& call) { return call.request.Parameter("id"); }
    static engine::Actor ByOf(const Call& call) { return api::ActorOf(call.request); }

    // Checks the condition on the job that is read for the change, so that no other change comes in
    // between.
    template <class F>
    Result<Response> Edit(const Call& call, bool must_insist, const F& edit) const {
        std::optional<Response> refusal;
        const auto change = [&](Job& changed) -> Result<void> {
            const MatchResult wish = IfMatch(call.request, changed);
            if (wish == MatchResult::kDiffers) refusal = JobChanged412(call.request);
            if (wish == MatchResult::kNone && must_insist) refusal = Wanted428(call.request);
            if (refusal) return Error(Code::kConflict, "refused");
            return edit(changed);
        };
        const auto job = jobs_.Change(IdOf(call), {}, change, ByOf(call));
        if (refusal) return *std::move(refusal);
        if (!job) return job.error();
        return Show(*job, 200);
    }

    Result<Response> PutNew(const Call& call, model::JobDefinition definition) const {
        if (definition.id.empty()) definition.id = IdOf(call);
        if (definition.id != IdOf(call)) {
            return Error(std::vector<Problem>{{"/id", "is not that of the path", "immutable", {}}});
        }
        const auto created = jobs_.Create(std::move(definition), ByOf(call));
        if (created) return Made(*created);
        if (created.error().code == Code::kAlreadyExists) return JobChanged412(call.request);
        return created.error();
    }

    Result<Response> ChangeMany(const Call& call, bool pause) const {
        KSANA_TRY(const codec::BulkRequest wish, codec::BulkRequestFromJson(call.request.body));
        KSANA_TRY(std::string outcome, SetEnabled(jobs_, store_, wish, !pause, ByOf(call)));
        return JsonResponse(200, std::move(outcome));
    }

    engine::JobService& jobs_;
    store::Store& store_;
};

Schema MakeStatistics() {
    return ObjectSchema(
               "Of the latest 10,000 final runs of the window. Rates and durations are "
               "absent without a run.")
        .Need("job_id", Schema::Text().Means("The job that was asked about."))
        .May("from", Schema::Time().Means("As asked."))
        .May("until", Schema::Time().Means("As asked."))
        .Need("runs", Schema::Count().Means("That started and ended."))
        .Need("succeeded", Schema::Count().Means("Of these."))
        .Need("failed", Schema::Count().Means("Failed, timed out, held or resolved."))
        .Need("cancelled", Schema::Count().Means("Of these."))
        .Need("skipped", Schema::Count().Means("Without a start."))
        .Need("missed", Schema::Count().Means("Without a start."))
        .May("success_rate", Schema::Number().Between(0, 1).Means("succeeded by runs."))
        .May("average", Schema::Length().Means("Of all durations."))
        .May("p50", Schema::Length().Means("Half of the runs took no longer."))
        .May("p90", Schema::Length().Means("90 % took no longer."))
        .May("p99", Schema::Length().Means("99 % took no longer."))
        .May("longest", Schema::Length().Means("The longest of all."))
        .Need("sampled", Schema::Flag().Means("There were more runs than were looked at."))
        .Need("consecutive_failures",
              Schema::Int32().Means("Runs that failed since the last that succeeded."));
}

Schema MakeFires() {
    const Schema fire =
        ObjectSchema()
            .Need("nominal_at", Schema::Time().Means("By the schedule."))
            .Need("start_at", Schema::Time().Means("With its jitter."))
            .Need(
                "dst",
                Schema::OneOf(kNoteNames).Means("What a change of the clocks has to do with it."));
    return ObjectSchema("What comes.")
        .Need("enabled", Schema::Flag().Means(
                             "false: the job is paused, and these would come if it were not."))
        .Need(
            "after_others",
            Schema::Flag().Means("true: it fires when the runs of other jobs end, and has no times "
                                 "of its own."))
        .Need("items", Schema::ListOf(fire).Means("In order."));
}

Schema MakeFireCount() {
    return Schema::Int().Between(1, std::int64_t{kMaxFires}).Default(std::to_string(kFires));
}

constexpr codec::NamedSchema kStatistics{"Statistics", &MakeStatistics};
constexpr codec::NamedSchema kFireList{"Fires", &MakeFires};
constexpr Parameter kGetJobStatisticsParameters[] = {kFrom, kUntil};
constexpr Parameter kGetJobFiresParameters[] = {{"count", "How many.", &MakeFireCount}};

constexpr RouteInfo kCreateJob{
    .method = HttpMethod::kPost,
    .path = "/jobs",
    .permission = Permission::kWrite,
    .id = "createJob",
    .tag = Tag::kJobs,
    .summary = "Creates a job",
    .body = &codec::kJobDefinitionSchema,
    .answers = {{{201, "Made.", &codec::kJobSchema, kETag | kLocation}}}};

constexpr RouteInfo kPauseJobs{
    .method = HttpMethod::kPost,
    .path = "/jobs/pause",
    .permission = Permission::kOperate,
    .id = "pauseJobs",
    .tag = Tag::kJobs,
    .summary = "Pauses the jobs of a filter",
    .more =
        "Each job on its own, about a thousand in one request; the answer says when there are "
        "more.",
    .body = &codec::kBulkRequestSchema,
    .answers = {{{200, "Which were changed, and which could not be.", &kBulkOutcomeSchema}}}};

constexpr RouteInfo kResumeJobs{
    .method = HttpMethod::kPost,
    .path = "/jobs/resume",
    .permission = Permission::kOperate,
    .id = "resumeJobs",
    .tag = Tag::kJobs,
    .summary = "Resumes the jobs of a filter",
    .more =
        "Each job on its own, about a thousand in one request; the answer says when there are "
        "more.",
    .body = &codec::kBulkRequestSchema,
    .answers = {{{200, "Which were changed, and which could not be.", &kBulkOutcomeSchema}}}};

constexpr RouteInfo kGetJob{.method = HttpMethod::kGet,
                            .path = "/jobs/{id}",
                            .permission = Permission::kRead,
                            .id = "getJob",
                            .tag = Tag::kJobs,
                            .summary = "Shows a job",
                            .subject = &kJobId,
                            .answers = {{{200, "The job.", &codec::kJobSchema, kETag}}},
                            .quick_read = true};

constexpr RouteInfo kPutJob{.method = HttpMethod::kPut,
                            .path = "/jobs/{id}",
                            .permission = Permission::kWrite,
                            .id = "putJob",
                            .tag = Tag::kJobs,
                            .summary = "Replaces a job",
                            .more =
                                "The whole definition: what is not in it has its default. "
                                "If-Match, or If-None-Match: *, must be sent.",
                            .subject = &kJobId,
                            .body = &codec::kJobDefinitionSchema,
                            .answers = {{{200, "Replaced.", &codec::kJobSchema, kETag},
                                         {201, "Made.", &codec::kJobSchema, kETag | kLocation}}},
                            .must_match = true};

constexpr RouteInfo kPatchJob{.method = HttpMethod::kPatch,
                              .path = "/jobs/{id}",
                              .permission = Permission::kWrite,
                              .id = "patchJob",
                              .tag = Tag::kJobs,
                              .summary = "Changes parts of a job",
                              .subject = &kJobId,
                              .body = &codec::kJobPatchSchema,
                              .body_need = BodyNeed::kMergePatchOrJson,
                              .answers = {{{200, "Changed.", &codec::kJobSchema, kETag}}}};

constexpr RouteInfo kDeleteJob{
    .method = HttpMethod::kDelete,
    .path = "/jobs/{id}",
    .permission = Permission::kWrite,
    .id = "deleteJob",
    .tag = Tag::kJobs,
    .summary = "Deletes a job",
    .subject = &kJobId,
    .answers = {{{204, "Gone. Runs that have not started are cancelled."}}}};

constexpr RouteInfo kRunJob{
    .method = HttpMethod::kPost,
    .path = "/jobs/{id}/run",
    .permission = Permission::kOperate,
    .id = "runJob",
    .tag = Tag::kJobs,
    .summary = "Runs a job at once, beside its schedule",
    .subject = &kJobId,
    .body = &codec::kRunRequestSchema,
    .body_need = BodyNeed::kOptional,
    .answers = {{{202, "Stored; it will run.", &codec::kRunSchema, kLocation}}}};

constexpr RouteInfo kPauseJob{.method = HttpMethod::kPost,
                              .path = "/jobs/{id}/pause",
                              .permission = Permission::kOperate,
                              .id = "pauseJob",
                              .tag = Tag::kJobs,
                              .summary = "Keeps a job from firing",
                              .subject = &kJobId,
                              .body = &codec::kPauseRequestSchema,
                              .body_need = BodyNeed::kOptional,
                              .answers = {{{200, "Paused.", &codec::kJobSchema, kETag}}}};

constexpr RouteInfo kResumeJob{
    .method = HttpMethod::kPost,
    .path = "/jobs/{id}/resume",
    .permission = Permission::kOperate,
    .id = "resumeJob",
    .tag = Tag::kJobs,
    .summary = "Lets a job fire again",
    .subject = &kJobId,
    .body = &codec::kNothingSchema,
    .body_need = BodyNeed::kOptional,
    .answers = {{{200, "Fires again. The fires in between are in the ledger as skipped.",
                  &codec::kJobSchema, kETag}}}};

constexpr RouteInfo kGetJobStatistics{
    .method = HttpMethod::kGet,
    .path = "/jobs/{id}/statistics",
    .permission = Permission::kRead,
    .id = "getJobStatistics",
    .tag = Tag::kJobs,
    .summary = "Success rate and durations of a job's runs",
    .subject = &kJobId,
    .parameters = kGetJobStatisticsParameters,
    .answers = {{{200, "Of the runs that ended in the window.", &kStatistics}}}};

constexpr RouteInfo kGetJobFires{.method = HttpMethod::kGet,
                                 .path = "/jobs/{id}/fires",
                                 .permission = Permission::kRead,
                                 .id = "getJobFires",
                                 .tag = Tag::kJobs,
                                 .summary = "The next fires of a job",
                                 .subject = &kJobId,
                                 .parameters = kGetJobFiresParameters,
                                 .answers = {{{200, "In order.", &kFireList}}}};

}  // namespace

void AddJobRoutes(http_server::Router& router, const std::shared_ptr<HandlerContext>& context) {
    const auto handlers = std::make_shared<const JobHandlers>(context->services);
    const auto add = [&](const RouteInfo& info, auto handler) {
        AddRoute(router, context, info,
                 [handlers, handler](const Call& call) { return ((*handlers).*handler)(call); });
    };
    add(kCreateJob, &JobHandlers::Create);
    add(kGetJob, &JobHandlers::Get);
    add(kPutJob, &JobHandlers::Put);
    add(kPatchJob, &JobHandlers::Patch);
    add(kDeleteJob, &JobHandlers::Delete);
    add(kRunJob, &JobHandlers::Run);
    add(kPauseJob, &JobHandlers::Pause);
    add(kResumeJob, &JobHandlers::Resume);
    add(kPauseJobs, &JobHandlers::PauseMany);
    add(kResumeJobs, &JobHandlers::ResumeMany);
    add(kGetJobStatistics, &JobHandlers::Statistics);
    add(kGetJobFires, &JobHandlers::Fires);
}

}  // namespace ksana::api
