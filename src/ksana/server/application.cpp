#include "ksana/server/application.hpp"

#include <fmt/core.h>

#include <array>
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
#include "ksana/engine/locks/store_locks.hpp"
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
#include "ksana/server/broker_service.hpp"
#include "ksana/server/demo.hpp"
#include "ksana/server/metrics/engine_metrics.hpp"
#include "ksana/server/metrics/http_metrics.hpp"
#include "ksana/server/metrics/lock_metrics.hpp"
#include "ksana/server/metrics/node_gauges.hpp"
#include "ksana/server/metrics/store_metrics.hpp"
#include "ksana/server/open_locks.hpp"
#include "ksana/server/open_store.hpp"
#include "ksana/server/settings/setting_value.hpp"
#include "ksana/server/settings/token_file.hpp"
#include "ksana/server/traces/trace_export.hpp"
#include "ksana/store_postgres/migrations/submit_function.hpp"
#include "ksana/telemetry/build_info.hpp"
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

std::string_view NameOf(StoreKind kind) {
    constexpr std::array<std::string_view, 4> kNames = {"sqlite", "postgres", "json", "memory"};
    return kNames.at(static_cast<std::size_t>(kind));
}

// Rows of the store, unless there is a lock server.
std::unique_ptr<lock::LockDriver> LocksOf(std::unique_ptr<lock::LockDriver> opened,
                                          store::Store& store) {
    if (opened) return opened;
    return std::make_unique<engine::StoreLocks>(store.locks());
}

}  // namespace

// All parts of the server, in the order of construction. Each part uses only parts above it, except
// through callbacks, which run only after Start.
struct Application::Everything {
    Everything(const Settings& given, const ApplicationParts& with,
               std::unique_ptr<store::Store> opened, std::unique_ptr<lock::LockDriver> opened_locks,
               std::unique_ptr<broker::Broker> opened_broker,
               http_client::ClientOptions client_options, std::optional<std::string> token,
               std::optional<mail::SmtpOptions> smtp)
        : settings(given),
          parts(with),
          traces(TraceSettingsOf(parts.variables, parts.version)),
          opened_store(std::move(opened)),
          store(MakeMeteredStore(*opened_store, metrics, parts.clock)),
          locks(LocksOf(std::move(opened_locks), *store), metrics, parts.clock),
          engine_metrics(metrics, *store, parts.clock, type_labels),
          trace_export(
              MakeTraceExport(traces, *store, engine_metrics, metrics, parts.clock, parts.random)),
          client(std::move(client_options), parts.clock),
          mailer(MailerOf(std::move(smtp), parts.clock)),
          http_executor(
              client, parts.clock,
              {.sampler = traces.sampler,
               .keys_of =
                   [this](const std::string& type) { return engine::SigningKeysOf(*store, type); }},
              mailer.get()),
          commands(CommandsOf(settings, traces.sampler, parts.clock)),
          node(*store, ExecutorsOf(parts, http_executor, commands.get()), zones, parts.clock,
               NodeOptions(), &ObserverOf()),
          engine(node, *store, parts.clock, &ObserverOf(),
                 {.drain = settings.shutdown_timeout, .stop_patience = std::chrono::seconds(2)}),
          job_service(
              *store, node.plans(), zones,
              [this](std::string_view name) { return FindCalendar(name); }, parts.ids),
          calendar_service(*store, node.calendars(), node.calendar_watch(), node.plans()),
          run_service(*store, parts.ids, &ObserverOf(),
                      [this](const model::Run& run) {
                          if (broker) broker->Cancel(run);
                      }),
          admin_jobs(job_service, *store),
          type_service(*store, node.types()),
          backfill_service(*store, node.schedules(), parts.ids),
          alert_service(*store, zones, parts.ids, CallbackOptionsOf(settings)),
          agent_limits(node.limits(), *store, parts.clock),
          agent_service(*store, {.follow_up = node.follow_up(),
                                 .observer = &ObserverOf(),
                                 .want_runs = trace_export != nullptr,
                                 .limits = &agent_limits,
                                 .expires_in = [this](Duration time) { node.ReapWithin(time); }}),
          agent_polls(agent_service, *store, parts.clock, {.workers = &node.workers()}),
          broker(BrokerOf(std::move(opened_broker))),
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
          http_metrics(metrics, server.statistics(), client),
          node_gauges(metrics, *store, node, parts.clock, type_labels) {
        build_info = metrics.AddCallbackGauge(
            {"ksana_build_info",
             "1; which build of ksana this is, and which kind of store it has.",
             {"version", "revision", "store"}},
            [this](telemetry::Samples& samples) {
                samples.Add(
                    {parts.version, telemetry::BuildRevision(), NameOf(settings.store.kind)}, 1);
            });
        silence_gauge = metrics.AddCallbackGauge(
            {"ksana_loop_silence_seconds",
             "Time since the last sign of life of that loop of the engine which has been silent "
             "longest: a step that hangs."},
            [this](telemetry::Samples& samples) {
                const Duration silence = running ? engine.LongestSilence() : Duration::zero();
                samples.Add({}, std::chrono::duration<double>(silence).count());
            });
        agent_limits.OnRoom([this] { agent_polls.Notify(); });
        waiting_polls_gauge = metrics.AddCallbackGauge(
            {"ksana_agent_polls_waiting", "Polls of agents that wait for a run, on this node."},
            [this](telemetry::Samples& samples) {
                samples.Add({}, static_cast<double>(agent_polls.waiting()));
            });
    }

    // Returns null without a message broker.
    std::unique_ptr<BrokerService> BrokerOf(std::unique_ptr<broker::Broker> opened) {
        if (!opened) return nullptr;
        return std::make_unique<BrokerService>(settings, std::move(opened),
                                               BrokerService::Parts{.agents = agent_service,
                                                                    .polls = agent_polls,
                                                                    .store = *store,
                                                                    .clock = parts.clock,
                                                                    .random = parts.random,
                                                                    .metrics = metrics,
                                                                    .sampler = traces.sampler});
    }

    // What makes a server ready, besides its store. A server without its broker serves all the
    // same: tasks wait in the store. /readyz?verbose shows it.
    std::vector<api::HealthCheck> ReadyChecks() {
        std::vector<api::HealthCheck> checks = {{"serving", [this] { return Serving(); }}};
        if (broker) checks.push_back({"broker", [this] { return broker->Check(); }, true});
        return checks;
    }

    http_server::Router Routes() {
        http_server::Router router;
        router.SetAuthorize(
            [this](const http_server::Request& request, http_server::Permission permission) {
                return guard.Check(request, permission);
            });
        if (auto hosts = HostRuleOf(settings)) router.SetHosts(*std::move(hosts));
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
        api::AddDispatcherRoutes(
            router, {.jobs = job_service,
                     .workers = worker_service,
                     .store = *store,
                     .random = parts.random,
                     .defaults = DefaultsOf(settings),
                     .published = [this](const model::Run& run) { return IsPublished(run); }});
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
                                      .ready = ReadyChecks(),
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
        auto options = NodeOptionsOf(settings, parts, &locks, [this] { return OwnAddress(); });
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

    // Whether such a run goes to workers through the message broker.
    bool IsPublished(const model::Run& run) const { return broker && broker->Publishes(run); }

    // Whether this server, or a live worker or agent, carries out such a run. Consumers of the
    // message broker need not be known.
    bool Served(const model::Run& run) const {
        if (IsPublished(run)) return true;
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
        return store->Writable();
    }

    Result<void> Serving() const {
        if (running) return {};
        return Error(Code::kUnavailable, "starting or stopping");
    }

    void StopAgents() {
        agent_polls.Drain();
        if (broker) broker->Stop();
        agent_polls.Stop();
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
    std::unique_ptr<store::Store> opened_store;
    std::unique_ptr<store::Store> store;  // measures the calls of opened_store
    MeteredLocks locks;
    TypeLabels type_labels;
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
    std::unique_ptr<BrokerService> broker;  // null: tasks are fetched from the servers
    engine::WorkerService worker_service;
    engine::TaskService task_service;
    telemetry::CallbackHandle waiting_polls_gauge;
    api::EventStreams events;
    api::Guard guard;
    api::TimedCheck store_check;
    http_server::Server server;
    HttpMetrics http_metrics;
    NodeGauges node_gauges;
    telemetry::CallbackHandle build_info;
    telemetry::CallbackHandle silence_gauge;
};

Application::Application(Key /*key*/, std::unique_ptr<Everything> everything)
    : all_(std::move(everything)) {}

Application::~Application() { Stop(); }

Result<std::unique_ptr<Application>> Application::Make(const Settings& settings,
                                                       const ApplicationParts& parts) {
    std::optional<std::string> token;
    if (!settings.tls_key.empty()) {
        auto secret = CheckSecretFile(settings.tls_key);
        if (!secret) return std::move(secret).error().WithContext("tls_key");
    }
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
    auto broker = OpenBroker(settings, parts.clock);
    if (!broker) return std::move(broker).error().WithContext("broker");
    auto all = std::make_unique<Everything>(settings, parts, std::move(store), *std::move(locks),
                                            *std::move(broker), std::move(client_options),
                                            std::move(token), std::move(smtp));
    return std::make_unique<Application>(Key{}, std::move(all));
}

Result<void> Application::Start() {
    const MutexLock lock(mutex_);
    if (running_) return {};
    if (auto started = StartParts(); !started) {
        all_->server.Stop();
        all_->StopAgents();
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
    KSANA_TRY_VOID(all_->node.AwaitName(all_->parts.clock));
    KSANA_TRY_VOID(all_->StoreDefaultPolicy());
    KSANA_TRY_VOID(all_->client.Start());
    if (all_->trace_export) KSANA_TRY_VOID(all_->trace_export->Start());
    if (all_->mailer) KSANA_TRY_VOID(all_->mailer->Start());
    if (all_->commands) KSANA_TRY_VOID(all_->commands->Open());
    KSANA_TRY_VOID(all_->store_check.Start());
    KSANA_TRY_VOID(all_->events.Start());
    KSANA_TRY_VOID(all_->agent_polls.Start());
    if (all_->broker) KSANA_TRY_VOID(all_->broker->Start());
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
    all_->StopAgents();
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
