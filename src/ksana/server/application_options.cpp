#include "ksana/server/application_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>

#include "ksana/exec/command/command_spec.hpp"
#include "ksana/server/settings/setting_value.hpp"
#include "ksana/server/settings/token_file.hpp"

namespace ksana::server {
namespace {

// Time that requests in flight get at a stop.
constexpr Duration kRequestDrain = std::chrono::seconds(5);
// I/O threads answer reads of one job themselves; a single one would leave a second core idle.
constexpr std::size_t kIoThreads = 2;
constexpr std::size_t kConnectionsOfAnAddress = 4'000;

}  // namespace

model::PolicyDefaults DefaultsOf(const Settings& settings) {
    model::PolicyDefaults defaults;
    defaults.timeout = settings.default_timeout;
    defaults.retry.max_retries = settings.max_retries;
    defaults.retry.interval = settings.retry_backoff;
    return defaults;
}

engine::CallbackOptions CallbackOptionsOf(const Settings& settings) {
    engine::CallbackOptions options;
    options.timeout = settings.callback_timeout;
    options.retry.max_retries = settings.callback_retries;
    options.retry.interval = settings.callback_backoff;
    options.retry.max_interval = settings.callback_max_backoff;
    return options;
}

engine::NodeOptions NodeOptionsOf(const Settings& settings, const ApplicationParts& parts,
                                  lock::LockDriver* locks, std::function<std::string()> address) {
    engine::NodeOptions options;
    const std::string incarnation = parts.ids.Next().ToString();
    const bool alone = IsSingleProcessStore(settings.store.kind);
    options.name = settings.node_name;
    if (options.name.empty()) options.name = alone ? "local" : "node-" + incarnation;
    options.incarnation = incarnation;
    options.only_one = alone || !settings.node_name.empty();
    options.version = parts.version;
    options.shared = !alone;
    options.address = std::move(address);
    options.lease = settings.lease;
    options.defaults = DefaultsOf(settings);
    options.slots = static_cast<std::size_t>(settings.workers);
    options.late_start_rate = static_cast<std::size_t>(settings.late_start_rate);
    options.retention.keep = settings.retention;
    options.retention.max_runs = settings.max_finished_runs;
    options.retention.max_bytes = static_cast<std::int64_t>(settings.max_finished_bytes);
    if (settings.start_rate > 0) options.rate = model::Rate{.count = settings.start_rate};
    options.breaker = {.failures = settings.breaker_failures,
                       .first_pause = settings.breaker_pause,
                       .longest_pause = settings.breaker_max};
    options.retention.keep_events = settings.audit_retention;
    options.callbacks = CallbackOptionsOf(settings);
    options.settle = alone ? std::chrono::seconds(1) : std::chrono::seconds(3);
    options.ids = &parts.ids;
    options.locks = locks;
    options.worker_heartbeat = settings.worker_heartbeat;
    options.worker_silence = settings.worker_timeout;
    return options;
}

namespace {

// At the start, since a file that libcurl cannot read would fail every call.
Result<void> CheckPem(std::string_view setting, const std::string& path, std::string_view what) {
    if (path.empty()) return {};
    std::ifstream file(path);
    const std::string begin = fmt::format("-----BEGIN {}-----", what);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(begin)) return {};
    }
    const bool there = file.eof();
    return Error(Code::kInvalidArgument,
                 fmt::format("{}: {} {}", setting, path,
                             there ? "has no \"" + begin + "\" in it" : "cannot be read"));
}

}  // namespace

Result<void> SetAuthorities(const std::string& ca_file, const std::string& crl_file,
                            http_client::ClientOptions& options) {
    KSANA_TRY_VOID(CheckPem("tls_ca_file", ca_file, "CERTIFICATE"));
    KSANA_TRY_VOID(CheckPem("tls_crl_file", crl_file, "X509 CRL"));
    options.ca_file = ca_file;
    options.crl_file = crl_file;
    return {};
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
    KSANA_TRY_VOID(SetAuthorities(settings.tls_ca_file, settings.tls_crl_file, options));
    options.max_connections = std::max(options.max_connections, workers);
    options.max_connections_per_host = std::max(options.max_connections_per_host, workers);
    return options;
}

Result<std::optional<mail::SmtpOptions>> SmtpOptionsOf(const Settings& settings) {
    if (settings.smtp_url.empty()) return std::optional<mail::SmtpOptions>();
    if (settings.smtp_from.find('@') == std::string::npos) {
        return Error(Code::kInvalidArgument,
                     "smtp_from: smtp_url needs an address that mails come from");
    }
    mail::SmtpOptions options{.url = settings.smtp_url,
                              .user = settings.smtp_user,
                              .password = {},
                              .from = settings.smtp_from,
                              .starttls = settings.smtp_tls != "never",
                              .ca_file = settings.tls_ca_file};
    if (!settings.smtp_password_file.empty()) {
        auto read = ReadSecretFile(settings.smtp_password_file);
        if (!read) return std::move(read).error().WithContext("smtp_password_file");
        options.password = *std::move(read);
    }
    return std::optional(std::move(options));
}

http_server::ServerOptions ServerOptionsOf(const Settings& settings,
                                           std::function<void()> on_drain) {
    http_server::ServerOptions options;
    options.address = settings.address == "localhost" ? "127.0.0.1" : settings.address;
    options.port = static_cast<std::uint16_t>(settings.port);
    if (!settings.tls_certificate.empty()) {
        options.tls = http_server::TlsOptions{.certificate_file = settings.tls_certificate,
                                              .key_file = settings.tls_key};
    }
    options.max_body_bytes = settings.max_body;
    options.max_bodies_bytes = settings.max_bodies;
    options.io_threads = kIoThreads;
    // A thousand workers behind one address, each with a waiting poll and a heartbeat, have room.
    options.max_connections_per_address = kConnectionsOfAnAddress;
    options.pool_threads = static_cast<std::size_t>(settings.request_threads);
    options.drain = std::min(settings.shutdown_timeout, kRequestDrain);
    options.on_drain = std::move(on_drain);
    return options;
}

std::optional<http_server::HostRule> HostRuleOf(const Settings& settings) {
    const bool token = !settings.api_token_file.empty();
    if (token && settings.allowed_hosts.empty()) return std::nullopt;
    std::vector<std::string> names = settings.allowed_hosts;
    names.push_back(settings.address);
    const bool any_address = settings.address == "0.0.0.0" || settings.address == "::";
    return http_server::HostRule(names, any_address);
}

api::EventStreams::Options EventOptionsOf(const Settings& settings) {
    api::EventStreams::Options options;
    if (!IsSingleProcessStore(settings.store.kind)) options.hole_patience = std::chrono::seconds(2);
    return options;
}

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

}  // namespace ksana::server
