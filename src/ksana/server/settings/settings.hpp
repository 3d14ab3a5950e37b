#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/broker/broker_url.hpp"
#include "ksana/lock/lock_url.hpp"
#include "ksana/server/settings/store_url.hpp"

namespace ksana::server {

// Which addresses jobs may call. kDefault refuses link-local and metadata addresses, kPublic also
// loopback and private ones.
enum class EgressPolicy : std::uint8_t { kDefault, kPublic };

// All settings of `ksana server`. setting_table.cpp says what each means and has all defaults, so
// Settings are made by LoadSettings or DefaultSettings.
struct Settings {
    std::string address;
    std::int32_t port = 0;
    std::string data_dir;
    StoreUrl store;      // may contain a password; display it with ShownUrl only
    lock::LockUrl lock;  // likewise
    std::string lock_prefix;
    std::optional<broker::BrokerUrl> broker;  // none: workers fetch from the servers only
    std::string broker_prefix;
    std::vector<std::string> broker_categories;  // empty: all
    std::int32_t broker_queue_length = 0;
    Duration broker_wait{};
    std::int32_t workers = 0;
    bool commands = false;  // this server runs commands
    Duration default_timeout{};
    std::int32_t max_retries = 0;
    Duration retry_backoff{};
    LogLevel log_level{};
    LogFormat log_format{};
    std::string log_file;
    std::string tls_certificate;
    std::string tls_key;
    std::string tls_ca_file;
    std::string tls_crl_file;
    EgressPolicy egress{};
    std::vector<std::string> egress_allow;
    Duration shutdown_timeout{};
    Duration retention{};                  // zero: forever
    std::int32_t max_finished_runs = 0;    // zero: no limit
    std::uint64_t max_finished_bytes = 0;  // zero: no limit
    Duration audit_retention{};            // zero: forever
    std::int32_t late_start_rate = 0;
    std::int32_t start_rate = 0;        // per second; zero: no limit
    std::int32_t breaker_failures = 0;  // zero: the breaker never opens
    Duration worker_heartbeat{};
    Duration worker_timeout{};
    Duration breaker_pause{};
    Duration breaker_max{};
    std::uint64_t max_body = 0;
    std::uint64_t max_bodies = 0;
    std::vector<std::string> allowed_hosts;
    std::string node_name;
    Duration lease{};
    std::int32_t request_threads = 0;
    std::string api_token_file;
    Duration callback_timeout{};
    std::int32_t callback_retries = 0;
    Duration callback_backoff{};
    Duration callback_max_backoff{};
    std::string smtp_url;
    std::string smtp_user;
    std::string smtp_password_file;
    std::string smtp_from;
    std::string smtp_tls;  // auto, never
};

// In ascending order of precedence.
enum class SettingSource : std::uint8_t { kDefault, kFile, kEnvironment, kFlag };

struct SettingOrigin {
    SettingSource source = SettingSource::kDefault;
    std::string place = "default";  // or "ksana.toml:3", "KSANA_PORT", "--port"
    friend bool operator==(const SettingOrigin&, const SettingOrigin&) = default;
};

// The sources of settings, provided by main() or a test.
struct SettingInputs {
    std::map<std::string, std::string> flags;  // by name of the setting; "": not given
    std::string config_file;                   // from --config; "": not given
    // May be the whole environment; unrelated variables are ignored. "": not given.
    std::map<std::string, std::string> environment;
    // Returns the content of a file. Fails with kNotFound if it does not exist. The message names
    // the path.
    std::function<Result<std::string>(const std::string& path)> read_file;
};

struct LoadedSettings {
    Settings settings;
    std::map<std::string_view, SettingOrigin> origins;  // of every setting, by name
    std::string file;                                   // the file that was read; "": none
};

// Merges all sources. Flags override KSANA_… variables, which override the plain variables of K-17,
// which override the file, which overrides the defaults. The error lists all faults at once, each
// with its place: "--port", "environment/WORKERS", "ksana.toml:3/port". An overridden value must be
// valid too, except that of a plain variable, which may belong to another program. No message shows
// a password.
Result<LoadedSettings> LoadSettings(const SettingInputs& inputs);

// Returns the store that a server with these inputs would open, for other commands. Does not check
// the values of unrelated settings, except their type in the file. Unknown names are errors here
// too, because one may be a misspelt "store".
Result<StoreUrl> LoadStoreUrl(const SettingInputs& inputs);

// Returns the settings of a server without any inputs.
Settings DefaultSettings();

// Returns whether LoadSettings looks at the variable: every KSANA_… variable and the plain ones.
// For main(), which selects the variables to pass on.
bool IsSettingVariable(std::string_view name);

}  // namespace ksana::server
