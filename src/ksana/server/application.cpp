#include "ksana/server/application.hpp"

#include <fmt/core.h>

#include <atomic>

#include "ksana/api/admin/stored_admin_jobs.hpp"
#include "ksana/api/dispatcher/dispatcher_routes.hpp"
#include "ksana/api/edge/guard.hpp"
#include "ksana/api/edge/health_routes.hpp"
#include "ksana/api/events/event_streams.hpp"
#include "ksana/api/tasks/task_routes.hpp"
#include "ksana/api/timer/timer_routes.hpp"
#include "ksana/api/v1/routes.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/base/process/host_name.hpp"
#include "ksana/codec/records/record_codec.hpp"
#include "ksana/engine/agents/agent_polls.hpp"
#include "ksana/engine/agents/agent_service.hpp"
#include "ksana/engine/alerts/alert_service.hpp"
#include "ksana/engine/backfill/backfill_service.hpp"
#include "ksana/engine/calendars/calendar_service.hpp"
#include "ksana/engine/engine.hpp"
#include "ksana/engine/services/run_service.hpp"
#include "ksana/engine/services/task_service.hpp"
#include "ksana/engine/services/type_service.hpp"
#include "ksana/engine/workers/worker_service.hpp"
#include "ksana/exec/command/command_executor.hpp"
#include "ksana/exec/command/command_spec.hpp"
#include "ksana/exec/http_executor.hpp"
#include "ksana/http_client/client.hpp"
#include "ksana/http_server/server.hpp"
#include "ksana/insight/explain/explain.hpp"
#include "ksana/lock/prefixed_locks.hpp"
#include "ksana/mail/smtp_mailer.hpp"
#include "ksana/schedule/zone/zone_database.hpp"
#include "ksana/server/application_options.hpp"
#include "ksana/server/demo.hpp"
#include "ksana/server/metrics/engine_metrics.hpp"
#include "ksana/server/metrics/http_metrics.hpp"
#include "ksana/server/open_locks.hpp"
#include "ksana/server/open_store.hpp"
#include "ksana/server/settings/setting_value.hpp"
#include "ksana/server/settings/token_file.hpp"
#include "ksana/server/traces/trace_export.hpp"
#include "ksana/store_postgres/migrations/submit_function.hpp"
#include "ksana/telemetry/process_metrics.hpp"
#include "ksana/telemetry/registry.hpp"

namespace ksana::server {
namespace {

// A loop that shows no activity for this long hangs: no store call takes that long.
constexpr Duration kLongestSilence = std::chrono::minutes(2);
// How long a health probe waits for the store, so that its answer takes at most a second in all.
constexpr Duration kProbePatience = std::chrono::milliseconds(900);

std::vector<engine::Executor*> ExecutorsOf(const ApplicationParts& parts, engine::Executor& http,
                                           engine::Executor* commands) {
    std::vector<engine::Executor*> all = parts.executors;
    all.push_back(&http);
    if (commands != nullptr) all.push_back(commands);
    return all;
}

// Returns null if this server runs no commands.
std::unique_ptr<exec::CommandExecutor> CommandsOf(const Settings& settings,
                                                  const model::TraceSampler& sampler,
                                                  const Clock& clock) {
    if (!settings.commands) return nullptr;
    exec::CommandOptions options{
        .variables = exec::ProcessVariables(), .silence = settings.lease, .sampler = sampler};
    const auto folder = options.variables.find("TMPDIR");
    if (folder != options.variables.end()) options.folder = folder->second;
    return std::make_unique<exec::CommandExecutor>(clock, std::move(options));
}

std::unique_ptr<mail::SmtpMailer> MailerOf(std::optional<mail::SmtpOptions> options,
                                           const Clock& clock) {
    return options ? std::make_unique<mail::SmtpMailer>(*std::move(options), clock) : nullptr;
}

std::vector<api::ShownSetting> ShownSettings(
    const Settings& settings, const std::map<std::string_view, SettingOrigin>& origins) {
    std::vector<api::ShownSetting> shown;
    for (const SettingSpec& spec : AllSettings()) {
        const auto origin = origins.find(spec.name);
        shown.push_back(
            {.key = std::string(spec.name),
             .value = ShownValue(spec, settings),
             .source = origin == origins.end() ? SettingOrigin{}.place : origin->second.place});
    }
    return shown;
}

}  // namespace

// All parts of the server, in the order of construction. Each part uses only parts above it, except
// through callbacks, which run only after Start.
struct Application::Everything {
    Everything(const Settings& given, const ApplicationParts& with,
               std::unique_ptr<store::Store> opened, std::unique_ptr<lock::LockDriver> opened_locks,
               http_client::ClientOptions client_options, std::optional<std::string> token,
               std::optional<mail::SmtpOptions> smtp)
        : settings(given),
          parts(with),
          traces(TraceSettingsOf(parts.variables, parts.version)),
          store(std::move(opened)),
          locks(std::move(opened_locks)),
          engine_metrics(metrics, *store),
          trace_export(
              MakeTraceExport(traces, *store, engine_metrics, metrics, parts.clock, parts.random)),
          client(std::move(client_options), parts.clock),
          mailer(MailerOf(std::move(smtp), parts.clock)),
          http_executor(client, parts.clock, {.sampler = traces.sampler}, mailer.get()),
          commands(CommandsOf(settings, traces.sampler, parts.clock)),
          node(*store, ExecutorsOf(parts, http_executor, commands.get()), zones, parts.clock,
               NodeOptions(), &ObserverOf()),
          engine(node, *store, parts.clock, &ObserverOf(),
                 {.drain = settings.shutdown_timeout, .stop_patience = std::chrono::seconds(2)}),
          job_service(
              *store, node.plans(), zones,
              [this](std::string_view name) { return FindCalendar(name); }, parts.ids),
          calendar_service(*store, node.calendars(), node.calendar_watch(), node.plans()),
          run_service(*store, parts.ids, &ObserverOf()),
          admin_jobs(job_service, *store),
          type_service(*store, node.types()),
          backfill_service(*store, node.schedules(), parts.ids),
          alert_service(*store, zones, parts.ids, CallbackOptionsOf(settings)),
          agent_limits(node.limits(), parts.clock),
          agent_service(*store, {.follow_up = node.follow_up(),
                                 .observer = &ObserverOf(),
                                 .want_runs = trace_export != nullptr,
                                 .limits = &agent_limits,
                                 .expires_in = [this](Duration time) { node.ReapWithin(time); }}),
          agent_polls(agent_service, *store, parts.clock, {.workers = &node.workers()}),
          worker_service(*store, node.workers(), node.agents(),
                         {.heartbeat = settings.worker_heartbeat, .follow_up = node.follow_up()}),
          task_service(
              *store, [this](const std::string& code) { return node.types().Find(code); },
              DefaultsOf(settings), &agent_polls, &node.workers()),
          events(*store, parts.clock, EventOptionsOf(settings)),
          guard(std::move(token)),
          store_check(
              "store", [this] { return StoreAnswers(); }, parts.clock, kProbePatience),
          server(ServerOptionsOf(settings, [this] { agent_polls.Drain(); }), Routes(), parts.clock,
                 parts.random),
          http_metrics(metrics, server.statistics(), client) {
        engine_metrics.Watch(metrics, &node);
        agent_limits.OnRoom([this] { agent_polls.Notify(); });
        waiting_polls_gauge = metrics.AddCallbackGauge(
            {"ksana_agent_polls_waiting", "Polls of agents that wait for a run, on this node."},
            [this](telemetry::Samples& samples) {
                samples.Add({}, static_cast<double>(agent_polls.waiting()));
            });
    }

    ~Everything() { engine_metrics.Watch(metrics, nullptr); }

    http_server::Router Routes() {
        http_server::Router router;
        router.SetAuthorize(
            [this](const http_server::Request& request, http_server::Permission permission) {
                return guard.Check(request, permission);
            });
        api::AddTimerRoutes(router, {.jobs = job_service,
                                     .store = *store,
                                     .defaults = DefaultsOf(settings),
                                     .quick_reads = IsSingleProcessStore(settings.store.kind)});
        api::AddTaskRoutes(router, {.tasks = task_service,
                                    .agents = agent_service,
                                    .runs = run_service,
                                    .types = type_service,
                                    .jobs = job_service,
                                    .store = *store,
                                    .defaults = DefaultsOf(settings)});
        api::AddDispatcherRoutes(router, {.jobs = job_service,
                                          .workers = worker_service,
                                          .store = *store,
                                          .random = parts.random,
                                          .defaults = DefaultsOf(settings)});
        api::AdminJobs& admin = parts.admin != nullptr ? *parts.admin : admin_jobs;
        api::AddAdminRoutes(router, {.jobs = admin, .store = *store, .runs = run_service});
        api::AddRoutes(
            router,
            {.jobs = job_service,
             .runs = run_service,
             .backfills = backfill_service,
             .tasks = task_service,
             .agents = agent_service,
             .agent_polls = agent_polls,
             .workers = worker_service,
             .events = events,
             .store = *store,
             .random = parts.random,
             .ids = parts.ids,
             .schedules = node.schedules(),
             .zones = zones,
             .calendars = calendar_service,
             .alerts = alert_service,
             .types = type_service,
             .node_view = [this] { return View(); },
             .version = parts.version,
             .quick_reads = IsSingleProcessStore(settings.store.kind),
             .limits = {.all = [this] { return node.LimitUses(); },
                        .of_group =
                            [this](const std::string& group) { return node.UseOfGroup(group); }},
             .settings = ShownSettings(settings, parts.origins),
             .sampler = traces.sampler,
             .nodes = [this] { return node.Nodes(); }});
        api::AddHealthRoutes(router, {.live = {{"engine", [this] { return Alive(); }}},
                                      .ready = {{"serving", [this] { return Serving(); }}},
                                      .store = &store_check,
                                      .metrics = metrics});
        if (parts.demo) AddDemoRoutes(router);
        return router;
    }

    engine::Observer& ObserverOf() {
        if (trace_export) return trace_export->observer();
        return engine_metrics;
    }

    engine::NodeOptions NodeOptions() {
        auto options = NodeOptionsOf(settings, parts, locks.get(), [this] { return OwnAddress(); });
        options.want_runs = trace_export != nullptr;
        return options;
    }

    // Stores the default policy for tasks that are submitted with SQL, without a server.
    Result<void> StoreDefaultPolicy() {
        if (settings.store.kind != StoreKind::kPostgres) return {};
        const model::Run run{.policy =
                                 model::EffectivePolicy(nullptr, nullptr, DefaultsOf(settings))};
        KSANA_TRY_VOID(
            store->settings().Put({.key = std::string(store_postgres::kDefaultPolicySetting),
                                   .value = codec::RecordToLine(run)}));
        return {};
    }

    insight::NodeView View() const {
        const engine::DispatchLoad load = node.Load();
        return {.slots = load.slots,
                .busy = load.busy,
                .starts_held_back = load.starts_held_back,
                .served = [this](const model::Run& run) { return Served(run); }};
    }

    // Whether this server, or a live worker or agent, carries out such a run.
    bool Served(const model::Run& run) const {
        const auto serves = [&](const auto& one) { return one->kind() == run.kind; };
        const bool here = run.selector.empty() && std::ranges::any_of(node.dispatchers(), serves);
        return here || node.workers().AnyServes(run);
    }

    std::string Url(const std::string& host) const {
        const bool v6 = host.find(':') != std::string::npos;
        return fmt::format("{}://{}{}{}:{}", settings.tls_certificate.empty() ? "http" : "https",
                           v6 ? "[" : "", host, v6 ? "]" : "", server.port());
    }

    // The URL under which other machines may find this server: one that listens on every address
    // gives the name of its machine.
    std::string OwnAddress() const {
        if (!parts.listen) return "";
        const bool any = settings.address == "0.0.0.0" || settings.address == "::";
        return Url(any ? HostName() : settings.address);
    }

    // Finds a calendar for a job that is created or changed. Refreshes once if the name is unknown,
    // because another node may have just created the calendar.
    std::shared_ptr<const schedule::CalendarIndex> FindCalendar(std::string_view name) {
        auto found = node.calendars().Find(name);
        if (!found && node.calendar_watch().Refresh()) found = node.calendars().Find(name);
        return found;
    }

    Result<void> Alive() const {
        if (!running || engine.LongestSilence() < kLongestSilence) return {};
        return Error(Code::kInternal, "a loop of the engine hangs");
    }

    Result<void> StoreAnswers() {
        KSANA_TRY([[maybe_unused]] const TimePoint now, store->Now());
        return {};
    }

    Result<void> Serving() const {
        if (running) return {};
        return Error(Code::kUnavailable, "starting or stopping");
    }

    // After the engine. The spans of the last attempts are sent when these have ended.
    void StopCalls() {
        client.Stop();
        if (commands) commands->Close();
        if (mailer) mailer->Stop();
        if (trace_export) trace_export->Stop();
    }

    const Settings settings;
    const ApplicationParts parts;
    std::atomic<bool> running = false;
    telemetry::Registry metrics;
    telemetry::ProcessMetrics process_metrics{metrics};
    schedule::ZoneDatabase zones;
    const TraceSettings traces;
    std::unique_ptr<store::Store> store;
    std::unique_ptr<lock::LockDriver> locks;  // null: rows of the store
    EngineMetrics engine_metrics;
    std::unique_ptr<TraceExport> trace_export;  // null: spans are not exported
    http_client::Client client;
    std::unique_ptr<mail::SmtpMailer> mailer;  // null: no mail server
    exec::HttpExecutor http_executor;
    std::unique_ptr<exec::CommandExecutor> commands;  // null: this server runs none
    engine::Node node;
    engine::Engine engine;
    engine::JobService job_service;
    engine::CalendarService calendar_service;
    engine::RunService run_service;
    api::StoredAdminJobs admin_jobs;
    engine::TypeService type_service;
    engine::BackfillService backfill_service;
    engine::AlertService alert_service;
    engine::AgentLimits agent_limits;
    engine::AgentService agent_service;
    engine::AgentPolls agent_polls;
    engine::WorkerService worker_service;
    engine::TaskService task_service;
    telemetry::CallbackHandle waiting_polls_gauge;
    api::EventStreams events;
    api::Guard guard;
    api::TimedCheck store_check;
    http_server::Server server;
    HttpMetrics http_metrics;
};

Application::Application(Key /*key*/, std::unique_ptr<Everything> everything)
    : all_(std::move(everything)) {}

Application::~Application() { Stop(); }

Result<std::unique_ptr<Application>> Application::Make(const Settings& settings,
                                                       const ApplicationParts& parts) {
    std::optional<std::string> token;
    if (!settings.api_token_file.empty()) {
        auto read = ReadTokenFile(settings.api_token_file);
        if (!read) return std::move(read).error().WithContext("api_token_file");
        token = std::move(*read);
    }
    KSANA_TRY(auto client_options, ClientOptionsOf(settings));
    KSANA_TRY(auto smtp, SmtpOptionsOf(settings));
    KSANA_TRY(
        auto store,
        OpenStore(settings.store, {.clock = parts.clock, .random = parts.random, .ids = parts.ids},
                  OpenMode::kReadWrite));
    auto locks = OpenLocks(settings.lock, parts.clock);
    if (!locks) return std::move(locks).error().WithContext("lock");
    if (*locks) {
        *locks = std::make_unique<lock::PrefixedLocks>(*std::move(locks),
                                                       settings.lock_prefix + ":lock:");
    }
    auto all =
        std::make_unique<Everything>(settings, parts, std::move(store), *std::move(locks),
                                     std::move(client_options), std::move(token), std::move(smtp));
    return std::make_unique<Application>(Key{}, std::move(all));
}

Result<void> Application::Start() {
    const MutexLock lock(mutex_);
    if (running_) return {};
    if (auto started = StartParts(); !started) {
        all_->server.Stop();
        all_->agent_polls.Stop();
        all_->events.Stop();
        all_->engine.Stop();
        all_->StopCalls();
        all_->store_check.Stop();
        return started;
    }
    running_ = true;
    all_->running = true;
    Log(LogLevel::kInfo, "ksana is ready",
        {{"version", all_->parts.version},
         {"url", all_->parts.listen ? url() : "none"},
         {"store", ShownUrl(all_->settings.store)},
         {"node", all_->node.owner()},
         {"workers", all_->settings.workers}});
    return {};
}

// Starts each part before the parts that call it.
Result<void> Application::StartParts() {
    KSANA_TRY_VOID(all_->StoreDefaultPolicy());
    KSANA_TRY_VOID(all_->client.Start());
    if (all_->trace_export) KSANA_TRY_VOID(all_->trace_export->Start());
    if (all_->mailer) KSANA_TRY_VOID(all_->mailer->Start());
    if (all_->commands) KSANA_TRY_VOID(all_->commands->Open());
    KSANA_TRY_VOID(all_->store_check.Start());
    KSANA_TRY_VOID(all_->events.Start());
    KSANA_TRY_VOID(all_->agent_polls.Start());
    if (all_->parts.listen) KSANA_TRY_VOID(all_->server.Start());
    if (all_->parts.demo) KSANA_TRY_VOID(MakeDemoJob(all_->job_service, url()));
    return all_->engine.Start();
}

void Application::Stop() { StopWithin(all_->settings.shutdown_timeout); }

void Application::StopWithin(Duration drain) {
    const MutexLock lock(mutex_);
    if (!running_) return;
    Log(LogLevel::kInfo, "ksana is stopping", {{"under_way", all_->node.UnderWay()}});
    all_->running = false;
    all_->node.AnnounceStop();
    all_->server.Stop();
    all_->agent_polls.Stop();
    all_->events.Stop();
    all_->engine.StopWithin(drain);
    all_->StopCalls();
    all_->store_check.Stop();
    running_ = false;
    Log(LogLevel::kInfo, "ksana has stopped");
}

std::uint16_t Application::port() const { return all_->server.port(); }

std::string Application::url() const { return all_->Url(all_->settings.address); }

engine::JobService& Application::job_service() { return all_->job_service; }

store::Store& Application::store() { return *all_->store; }

bool Application::is_shared() const { return !IsSingleProcessStore(all_->settings.store.kind); }

Result<void> Application::Alive() const { return all_->Alive(); }

}  // namespace ksana::server
