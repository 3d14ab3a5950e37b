#include "ksana/sdk/stored/stored_jobs.hpp"

#include <fmt/core.h>

#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/codec/dialects/admin_job.hpp"
#include "ksana/http_server/listen_address.hpp"
#include "ksana/server/settings/settings.hpp"

namespace ksana::sdk {
namespace {

constexpr const char* kDisabledByProgram = "disabled by the program";
constexpr std::string_view kNotDeclared = "the program does not declare it any more";
// Runs at once. Coroutines that sleep need no thread, so there may be many.
constexpr std::int32_t kSlots = 256;
constexpr std::size_t kPage = 500;
constexpr Duration kAtOnce = std::chrono::milliseconds(1);

engine::Actor Library() { return {.user = std::string(kLibrary)}; }

Result<void> SetAddress(const std::string& text, server::Settings& settings) {
    auto listen = http_server::ParseListenAddress(text);
    if (!listen) return std::move(listen).error().WithContext("http");
    settings.address = std::move(listen->address);
    settings.port = listen->port;
    const bool local = settings.address == "localhost" || settings.address.starts_with("127.") ||
                       settings.address == "::1";
    if (local || !settings.api_token_file.empty()) return {};
    return Error(Code::kInvalidArgument,
                 fmt::format("http: {} can be reached from other machines, so requests need a "
                             "token: name a file with it in http_token_file",
                             text));
}

Result<server::Settings> SettingsOf(const StoredJobs::Options& options) {
    server::Settings settings = server::DefaultSettings();
    const std::string store = options.store.empty() ? "memory:" : options.store;
    auto url = server::ParseStoreUrl(store, ".");
    if (!url) return std::move(url).error().WithContext("store");
    settings.store = *std::move(url);
    settings.workers = kSlots;
    settings.max_retries = 0;
    settings.api_token_file = options.http_token_file;
    if (!options.http.empty()) KSANA_TRY_VOID(SetAddress(options.http, settings));
    return settings;
}

model::MisfirePolicy PolicyOf(Misfire misfire) {
    switch (misfire) {
        case Misfire::kSkip:
            return model::MisfirePolicy::kSkip;
        case Misfire::kRunLatest:
            return model::MisfirePolicy::kRunLatest;
        case Misfire::kRunAll:
            return model::MisfirePolicy::kRunAll;
    }
    return model::MisfirePolicy::kSkip;
}

schedule::ScheduleSpec ScheduleOf(const JobEntry& entry, TimePoint now) {
    const JobSpec& spec = entry.policy->spec;
    schedule::ScheduleSpec wanted;
    if (spec.cron.empty()) {
        wanted.kind = schedule::ScheduleKind::kEvery;
        wanted.every = entry.fixed_rate;
        // The store counts the fires after now, so one that is due at once lies a moment ahead.
        wanted.start_at = now + std::max<Duration>(entry.initial_delay, kAtOnce);
        return wanted;
    }
    wanted.kind = schedule::ScheduleKind::kCron;
    wanted.cron = spec.cron;
    wanted.dialect = spec.dialect;
    if (!spec.zone.empty()) wanted.zone = spec.zone;
    return wanted;
}

// Sets what the entry says, and leaves the rest: labels and priority may be set through the API.
void Describe(const JobEntry& entry, bool scheduled, TimePoint now, model::JobDefinition& job) {
    const JobSpec& spec = entry.policy->spec;
    const schedule::ScheduleSpec before = job.schedule;
    job.id = entry.id;
    if (job.name.empty()) job.name = entry.id;
    job.owner = kLibrary;
    job.group = spec.group.empty() ? "default" : spec.group;
    job.action = model::HandlerAction{.handler = entry.id, .input = {}};
    job.schedule = ScheduleOf(entry, now);
    // The grid of a fixed rate survives a restart.
    if (before.kind == job.schedule.kind && before.every == job.schedule.every) {
        job.schedule.start_at = before.start_at;
    }
    job.enabled = scheduled && entry.enabled;
    job.paused_reason = job.enabled ? "" : kDisabledByProgram;
    job.overlap = model::OverlapPolicy::kSkip;
    job.misfire.policy = PolicyOf(spec.misfire);
    job.timeout = spec.timeout > Duration::zero() ? spec.timeout : kNoTimeout;
    job.retry =
        model::RetryPolicy{.strategy = spec.retry.exponential ? model::RetryStrategy::kExponential
                                                              : model::RetryStrategy::kFixed,
                           .max_retries = spec.retry.max_retries,
                           .interval = spec.retry.interval,
                           .sequence = {},
                           .max_interval = spec.retry.max_interval};
}

}  // namespace

StoredJobs::StoredJobs(Key /*key*/, const Options& options, bool shared)
    : ids_(options.clock, options.random),
      queue_tasks_(model::ActionKind::kQueue, options.runner, options.handlers),
      handler_tasks_(model::ActionKind::kHandler, options.runner, options.handlers),
      executor_(options.runner, handler_tasks_, shared),
      listens_(!options.http.empty()) {}

Result<std::unique_ptr<StoredJobs>> StoredJobs::Open(const Options& options) {
    KSANA_TRY(const server::Settings settings, SettingsOf(options));
    const bool shared = settings.store.kind == server::StoreKind::kPostgres;
    auto jobs = std::make_unique<StoredJobs>(Key{}, options, shared);
    std::vector<engine::Executor*> executors = {&jobs->executor_};
    // Without handlers it would take tasks of every type.
    if (!options.handlers.empty()) executors.push_back(&jobs->queue_tasks_);
    KSANA_TRY(jobs->application_,
              server::Application::Make(settings, {.clock = options.clock,
                                                   .random = options.random,
                                                   .ids = jobs->ids_,
                                                   .version = "library",
                                                   .executors = std::move(executors),
                                                   .admin = &options.admin,
                                                   .listen = jobs->listens_}));
    return jobs;
}

Result<void> StoredJobs::Start() {
    if (!shared()) KSANA_TRY_VOID(PauseLeftovers());
    return application_->Start();
}

Result<void> StoredJobs::PauseLeftovers() {
    store::JobQuery query;
    query.limit = kPage;
    for (;;) {
        KSANA_TRY(const auto page, application_->store().jobs().List(query));
        for (const model::Job& job : page.items) {
            const auto* const handler = std::get_if<model::HandlerAction>(&job.action);
            if (handler == nullptr || !job.enabled || executor_.Knows(handler->handler)) continue;
            Log(LogLevel::kWarn, "a job in the store is not declared any more and is paused",
                {{"jobId", job.id}});
            KSANA_TRY_VOID(
                application_->job_service().Pause(job.id, std::string(kNotDeclared), Library()));
        }
        if (page.next.empty()) return {};
        query.cursor = page.next;
    }
}

Result<void> StoredJobs::Put(JobEntry& entry, bool scheduled) {
    executor_.Add(entry);
    engine::JobService& service = application_->job_service();
    KSANA_TRY(const TimePoint now, application_->store().Now());
    auto there = application_->store().jobs().Get(entry.id);
    if (!there && there.error().code != Code::kNotFound) return std::move(there).error();
    Result<model::Job> stored = there;
    if (!there) {
        model::JobDefinition definition;
        Describe(entry, scheduled, now, definition);
        stored = service.Create(std::move(definition), Library());
    } else if (!std::holds_alternative<model::HandlerAction>(there->action)) {
        executor_.Remove(entry);
        return Error(Code::kConflict, "the store has another job with this id");
    } else {
        model::Job wanted = *there;
        Describe(entry, scheduled, now, wanted);
        if (wanted.definition() != there->definition()) {
            const auto edit = [&](model::Job& job) -> Result<void> {
                Describe(entry, scheduled, now, job);
                return {};
            };
            stored = service.Change(entry.id, {}, edit, Library());
        }
    }
    if (!stored) {
        executor_.Remove(entry);
        return std::move(stored).error();
    }
    const auto next = stored->enabled ? stored->state.next_run_at : std::nullopt;
    entry.nominal = next ? next->time_since_epoch().count() : kNoTime;
    return {};
}

Result<void> StoredJobs::Remove(JobEntry& entry) {
    KSANA_TRY_VOID(application_->job_service().Delete(entry.id, {}, Library()));
    executor_.Remove(entry);
    return {};
}

Result<void> StoredJobs::Trigger(const std::string& id, const Parameters& parameters,
                                 const engine::Actor& by) {
    KSANA_TRY_VOID(application_->job_service().RunNow(
        {.id = id,
         .parameters = codec::AdminParametersToJson({parameters.begin(), parameters.end()}),
         .obeys_overlap = true,
         .run_id = {}},
        by));
    return {};
}

Result<std::optional<TimePoint>> StoredJobs::SetEnabled(const std::string& id, bool enabled,
                                                        const engine::Actor& by) {
    engine::JobService& service = application_->job_service();
    KSANA_TRY(const model::Job job,
              enabled ? service.Resume(id, by) : service.Pause(id, kDisabledByProgram, by));
    return job.enabled ? job.state.next_run_at : std::nullopt;
}

}  // namespace ksana::sdk
