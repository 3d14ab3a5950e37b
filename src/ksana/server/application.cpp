#include "ksana/server/application.hpp"

#include <fmt/core.h>

#include <atomic>

#include "ksana/api/guard.hpp"
#include "ksana/api/health_routes.hpp"
#include "ksana/api/timer_routes.hpp"
#include "ksana/api_v1/routes.hpp"
#include "ksana/base/log.hpp"
#include "ksana/engine/backfill_desk.hpp"
#include "ksana/engine/engine.hpp"
#include "ksana/engine/run_desk.hpp"
#include "ksana/exec/http_executor.hpp"
#include "ksana/http_client/client.hpp"
#include "ksana/http_server/server.hpp"
#include "ksana/schedule/zone_database.hpp"
#include "ksana/server/demo.hpp"
#include "ksana/server/engine_metrics.hpp"
#include "ksana/server/http_metrics.hpp"
#include "ksana/server/open_store.hpp"
#include "ksana/server/setting_value.hpp"
#include "ksana/server/token_file.hpp"
#include "ksana/telemetry/process_metrics.hpp"
#include "ksana/telemetry/registry.hpp"

namespace ksana::server {
namespace {

// A loop that has not been seen for so long hangs: its longest call of the store is shorter.
constexpr Duration kLongestSilence = std::chrono::minutes(2);
// What a probe waits for the store: with the way to it and back, a second.
constexpr Duration kProbePatience = std::chrono::milliseconds(900);
// Idle connections of clients are cut at a stop; requests under way get so long.
constexpr Duration kRequestDrain = std::chrono::seconds(5);
// Reads of one job are answered on them: one alone would leave a second core idle.
constexpr std::size_t kIoThreads = 2;

model::PolicyDefaults DefaultsOf(const Settings& settings) {
    model::PolicyDefaults defaults;
    defaults.timeout = settings.default_timeout;
    defaults.retry.max_retries = settings.max_retries;
    defaults.retry.interval = settings.retry_backoff;
    return defaults;
}

// Only one process can have the files of these open, and so the name.
bool IsAlone(StoreKind kind) { return kind != StoreKind::kPostgres; }

engine::NodeOptions NodeOptionsOf(const Settings& settings, const ApplicationParts& parts) {
    engine::NodeOptions options;
    const std::string incarnation = parts.ids.Next().ToString();
    const bool alone = IsAlone(settings.store.kind);
    options.name = settings.node_name;
    if (options.name.empty()) options.name = alone ? "local" : "node-" + incarnation;
    options.incarnation = incarnation;
    options.only_one = alone || !settings.node_name.empty();
    options.defaults = DefaultsOf(settings);
    options.slots = static_cast<std::size_t>(settings.workers);
    options.late_start_rate = static_cast<std::size_t>(settings.late_start_rate);
    options.retention.keep = settings.retention;
    options.retention.keep_events = settings.audit_retention;
    return options;
}

Result<http_client::ClientOptions> ClientOptionsOf(const Settings& settings) {
    http_client::ClientOptions options;
    options.egress.policy = settings.egress == EgressPolicy::kPublic
                                ? http_client::EgressPolicy::kPublic
                                : http_client::EgressPolicy::kDefault;
    for (const std::string& text : settings.egress_allow) {
        KSANA_TRY(http_client::Cidr range, http_client::ParseCidr(text));
        options.egress.allow.push_back(range);
    }
    const auto workers = static_cast<std::size_t>(settings.workers);
    options.max_connections = std::max(options.max_connections, workers);
    options.max_connections_per_host = std::max(options.max_connections_per_host, workers);
    return options;
}

http_server::ServerOptions ServerOptionsOf(const Settings& settings) {
    http_server::ServerOptions options;
    options.address = settings.address == "localhost" ? "127.0.0.1" : settings.address;
    options.port = static_cast<std::uint16_t>(settings.port);
    if (!settings.tls_certificate.empty()) {
        options.tls = http_server::TlsOptions{.certificate_file = settings.tls_certificate,
                                              .key_file = settings.tls_key};
    }
    options.max_body_bytes = settings.max_body;
    options.io_threads = kIoThreads;
    options.pool_threads = static_cast<std::size_t>(settings.request_threads);
    options.drain = std::min(settings.shutdown_timeout, kRequestDrain);
    return options;
}

// Where several write, numbers of events become visible out of their order.
api_v1::EventHub::Options EventOptionsOf(const Settings& settings) {
    api_v1::EventHub::Options options;
    if (!IsAlone(settings.store.kind)) options.hole_patience = std::chrono::seconds(2);
    return options;
}

std::vector<api_v1::ShownSetting> ShownSettings(
    const Settings& settings, const std::map<std::string_view, SettingOrigin>& origins) {
    std::vector<api_v1::ShownSetting> shown;
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

// In the order in which they are made; they go in reverse.
struct Application::Everything {
    Everything(const Settings& given, const ApplicationParts& with,
               std::unique_ptr<store::Store> opened, http_client::ClientOptions client_options,
               std::optional<std::string> token)
        : settings(given),
          parts(with),
          store(std::move(opened)),
          engine_metrics(metrics, *store),
          client(std::move(client_options), parts.clock),
          http_executor(client, parts.clock),
          node(*store, {&http_executor}, zones, parts.clock, NodeOptionsOf(settings, parts),
               &engine_metrics),
          engine(node, *store, parts.clock, &engine_metrics,
                 {.drain = settings.shutdown_timeout, .stop_patience = std::chrono::seconds(2)}),
          desk(*store, node.plans(), zones, {}, parts.ids),
          run_desk(*store, parts.ids),
          backfill_desk(*store, node.schedules(), parts.ids),
          events(*store, parts.clock, EventOptionsOf(settings)),
          guard(std::move(token)),
          store_check(
              "store", [this] { return StoreAnswers(); }, parts.clock, kProbePatience),
          server(ServerOptionsOf(settings), Routes(), parts.clock, parts.random),
          http_metrics(metrics, server.statistics(), client) {
        engine_metrics.Watch(metrics, &node);
    }

    ~Everything() { engine_metrics.Watch(metrics, nullptr); }

    http_server::Router Routes() {
        http_server::Router router;
        router.SetAuthorize(
            [this](const http_server::Request& request, http_server::Permission permission) {
                return guard.Check(request, permission);
            });
        api::AddTimerRoutes(router, {.desk = desk,
                                     .store = *store,
                                     .defaults = DefaultsOf(settings),
                                     .quick_reads = IsAlone(settings.store.kind)});
        api_v1::AddRoutes(router, {.jobs = desk,
                                   .runs = run_desk,
                                   .backfills = backfill_desk,
                                   .events = events,
                                   .store = *store,
                                   .random = parts.random,
                                   .ids = parts.ids,
                                   .version = parts.version,
                                   .quick_reads = IsAlone(settings.store.kind),
                                   .settings = ShownSettings(settings, parts.origins)});
        api::AddHealthRoutes(router, {.live = {{"engine", [this] { return Alive(); }}},
                                      .ready = {{"serving", [this] { return Serving(); }}},
                                      .store = &store_check,
                                      .metrics = metrics});
        if (parts.demo) AddDemoRoutes(router);
        return router;
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

    const Settings settings;
    const ApplicationParts parts;
    std::atomic<bool> running = false;
    telemetry::Registry metrics;
    telemetry::ProcessMetrics process_metrics{metrics};
    schedule::ZoneDatabase zones;
    std::unique_ptr<store::Store> store;
    EngineMetrics engine_metrics;
    http_client::Client client;
    exec::HttpExecutor http_executor;
    engine::Node node;
    engine::Engine engine;
    engine::JobDesk desk;
    engine::RunDesk run_desk;
    engine::BackfillDesk backfill_desk;
    api_v1::EventHub events;
    api::Guard guard;
    api::TimelyCheck store_check;
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
        KSANA_TRY(token, ReadTokenFile(settings.api_token_file));
    }
    KSANA_TRY(auto client_options, ClientOptionsOf(settings));
    KSANA_TRY(
        auto store,
        OpenStore(settings.store, {.clock = parts.clock, .random = parts.random, .ids = parts.ids},
                  OpenMode::kReadWrite));
    auto all = std::make_unique<Everything>(settings, parts, std::move(store),
                                            std::move(client_options), std::move(token));
    return std::make_unique<Application>(Key{}, std::move(all));
}

Result<void> Application::Start() {
    const std::lock_guard lock(mutex_);
    if (running_) return {};
    if (auto started = StartParts(); !started) {
        all_->server.Stop();
        all_->events.Stop();
        all_->engine.Stop();
        all_->client.Stop();
        all_->store_check.Stop();
        return started;
    }
    running_ = true;
    all_->running = true;
    Log(LogLevel::kInfo, "ksana is ready",
        {{"version", all_->parts.version},
         {"url", url()},
         {"store", ShownUrl(all_->settings.store)},
         {"node", all_->node.owner()},
         {"workers", all_->settings.workers}});
    return {};
}

// What is called stands before who calls it.
Result<void> Application::StartParts() {
    KSANA_TRY_VOID(all_->client.Start());
    KSANA_TRY_VOID(all_->store_check.Start());
    KSANA_TRY_VOID(all_->events.Start());
    KSANA_TRY_VOID(all_->server.Start());
    if (all_->parts.demo) KSANA_TRY_VOID(MakeDemoJob(all_->desk, url()));
    return all_->engine.Start();
}

void Application::Stop() {
    const std::lock_guard lock(mutex_);
    if (!running_) return;
    Log(LogLevel::kInfo, "ksana is stopping", {{"under_way", all_->node.UnderWay()}});
    all_->running = false;
    all_->server.Stop();
    all_->events.Stop();
    all_->engine.Stop();
    all_->client.Stop();
    all_->store_check.Stop();
    running_ = false;
    Log(LogLevel::kInfo, "ksana has stopped");
}

std::uint16_t Application::port() const { return all_->server.port(); }

std::string Application::url() const {
    const Settings& settings = all_->settings;
    const bool v6 = settings.address.find(':') != std::string::npos;
    return fmt::format("{}://{}{}{}:{}", settings.tls_certificate.empty() ? "http" : "https",
                       v6 ? "[" : "", settings.address, v6 ? "]" : "", port());
}

engine::JobDesk& Application::desk() { return all_->desk; }

Result<void> Application::Alive() const { return all_->Alive(); }

}  // namespace ksana::server
