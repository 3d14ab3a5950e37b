#include "ksana/server/setting_table.hpp"

#include <algorithm>
#include <array>

#include "ksana/server/network_text.hpp"

namespace ksana::server {
namespace {

constexpr std::array<SettingSpec, 23> kSettings = {{
    {.name = "address",
     .member = &Settings::address,
     .default_text = "127.0.0.1",
     .value_name = "IP",
     .help = "where to listen; beyond loopback it needs api_token_file",
     .fault_of = FaultOfAddress},
    {.name = "port",
     .member = &Settings::port,
     .default_text = "7100",
     .value_name = "PORT",
     .help = "port to listen on; 0 takes a free one",
     .low = "0",
     .high = "65535",
     .plain_variable = "PORT"},
    {.name = "data_dir",
     .member = &Settings::data_dir,
     .default_text = kDefaultDataFolder,
     .value_name = "FOLDER",
     .help = "folder of the files that a store named by a bare word has",
     .plain_variable = "DATA_DIR",
     .second_variable = "KSANA_DATA"},
    {.name = "store",
     .member = &Settings::store,
     .default_text = kDefaultStore,
     .value_name = "URL",
     .help = "sqlite:PATH, json:PATH, memory: or postgresql://USER@HOST/DATABASE; the bare words "
             "sqlite and json mean ksana.db and jobs.json in data_dir"},
    {.name = "workers",
     .member = &Settings::workers,
     .default_text = "4",
     .value_name = "COUNT",
     .help = "calls under way at once",
     .low = "1",
     .high = "10000",
     .plain_variable = "WORKERS"},
    {.name = "default_timeout",
     .member = &Settings::default_timeout,
     .default_text = "10s",
     .value_name = "DURATION",
     .help = "how long a call may take when its job does not say",
     .low = "1ms",
     .high = "24h",
     .plain_variable = "DEFAULT_TIMEOUT"},
    {.name = "max_retries",
     .member = &Settings::max_retries,
     .default_text = "3",
     .value_name = "COUNT",
     .help = "how often a failed call is tried again when its job does not say",
     .low = "0",
     .high = "1000",
     .plain_variable = "MAX_RETRIES"},
    {.name = "retry_backoff",
     .member = &Settings::retry_backoff,
     .default_text = "5s",
     .value_name = "DURATION",
     .help = "how long to wait before the first retry when the job does not say",
     .low = "0s",
     .high = "24h",
     .plain_variable = "RETRY_BACKOFF"},
    {.name = "log_level",
     .member = &Settings::log_level,
     .default_text = "info",
     .value_name = "LEVEL",
     .help = "debug, info, warn, error or off",
     .plain_variable = "LOG_LEVEL"},
    {.name = "log_format",
     .member = &Settings::log_format,
     .default_text = "text",
     .value_name = "FORMAT",
     .help = "text or json"},
    {.name = "log_file",
     .member = &Settings::log_file,
     .default_text = "",
     .value_name = "FILE",
     .help = "where the log goes; without it to standard error"},
    {.name = "tls_certificate",
     .member = &Settings::tls_certificate,
     .default_text = "",
     .value_name = "FILE",
     .help = "certificate chain in PEM; with tls_key the server speaks HTTPS"},
    {.name = "tls_key",
     .member = &Settings::tls_key,
     .default_text = "",
     .value_name = "FILE",
     .help = "private key in PEM that belongs to tls_certificate"},
    {.name = "egress",
     .member = &Settings::egress,
     .default_text = "default",
     .value_name = "POLICY",
     .help = "addresses that jobs may not call: default refuses link-local and metadata ones, "
             "public also loopback and private ones"},
    {.name = "egress_allow",
     .member = &Settings::egress_allow,
     .default_text = "",
     .value_name = "RANGES",
     .help = "ranges of addresses that jobs may call all the same, such as 10.1.0.0/16",
     .fault_of = FaultOfCidr},
    {.name = "shutdown_timeout",
     .member = &Settings::shutdown_timeout,
     .default_text = "30s",
     .value_name = "DURATION",
     .help = "how long calls under way may go on when the server stops",
     .low = "0s",
     .high = "1h"},
    {.name = "retention",
     .member = &Settings::retention,
     .default_text = "720h",
     .value_name = "DURATION",
     .help = "how long finished runs are kept; 0s is for ever",
     .low = "0s",
     .high = "876000h"},
    {.name = "audit_retention",
     .member = &Settings::audit_retention,
     .default_text = "2160h",
     .value_name = "DURATION",
     .help = "how long the audit of who did what is kept; 0s is for ever",
     .low = "0s",
     .high = "876000h"},
    {.name = "late_start_rate",
     .member = &Settings::late_start_rate,
     .default_text = "500",
     .value_name = "COUNT",
     .help = "how many overdue runs start per second, at most",
     .low = "1",
     .high = "1000000"},
    {.name = "max_body",
     .member = &Settings::max_body,
     .default_text = "1MB",
     .value_name = "SIZE",
     .help = "largest body of a request",
     .low = "1KB",
     .high = "1GB"},
    {.name = "node_name",
     .member = &Settings::node_name,
     .default_text = "",
     .value_name = "NAME",
     .help = "name of this server among those that share a store; one that comes back under its "
             "name takes back its runs at once"},
    {.name = "request_threads",
     .member = &Settings::request_threads,
     .default_text = "16",
     .value_name = "COUNT",
     .help = "threads that answer requests",
     .low = "1",
     .high = "1000"},
    {.name = "api_token_file",
     .member = &Settings::api_token_file,
     .default_text = "",
     .value_name = "FILE",
     .help = "file with the token that requests must show"},
}};

}  // namespace

std::span<const SettingSpec> AllSettings() { return kSettings; }

const SettingSpec* FindSetting(std::string_view name) {
    const auto* const found = std::ranges::find(kSettings, name, &SettingSpec::name);
    return found == kSettings.end() ? nullptr : found;
}

std::string FlagOf(const SettingSpec& spec) {
    std::string flag(spec.name);
    std::ranges::replace(flag, '_', '-');
    return flag;
}

std::string VariableOf(const SettingSpec& spec) {
    std::string variable = "KSANA_";
    for (const char c : spec.name) {
        variable += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    return variable;
}

std::vector<std::string> VariablesOf(const SettingSpec& spec) {
    std::vector<std::string> variables = {VariableOf(spec)};
    if (!spec.second_variable.empty()) variables.emplace_back(spec.second_variable);
    if (!spec.plain_variable.empty()) variables.emplace_back(spec.plain_variable);
    return variables;
}

}  // namespace ksana::server
