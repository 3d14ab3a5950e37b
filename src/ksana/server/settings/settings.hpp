#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/server/settings/store_url.hpp"

namespace ksana::server {

// Which addresses a job may call. kDefault refuses link-local and metadata addresses, kPublic also
// loopback and private ones.
enum class EgressPolicy : std::uint8_t { kDefault, kPublic };

// Everything `ksana server` can be told; setting_table.cpp says what each means. The defaults are
// in that table and nowhere else: one is made by LoadSettings or DefaultSettings.
struct Settings {
    std::string address;
    std::int32_t port = 0;
    std::string data_dir;
    StoreUrl store;  // may hold a password: shown by ShownUrl only
    std::int32_t workers = 0;
    Duration default_timeout{};
    std::int32_t max_retries = 0;
    Duration retry_backoff{};
    LogLevel log_level{};
    LogFormat log_format{};
    std::string log_file;
    std::string tls_certificate;
    std::string tls_key;
    EgressPolicy egress{};
    std::vector<std::string> egress_allow;
    Duration shutdown_timeout{};
    Duration retention{};                  // zero: for ever
    std::int32_t max_finished_runs = 0;    // zero: any number
    std::uint64_t max_finished_bytes = 0;  // zero: any size
    Duration audit_retention{};            // zero: for ever
    std::int32_t late_start_rate = 0;
    std::int32_t start_rate = 0;        // per second; zero: no limit
    std::int32_t breaker_failures = 0;  // zero: never opens
    Duration breaker_pause{};
    Duration breaker_max{};
    std::uint64_t max_body = 0;
    std::string node_name;
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

// From weak to strong.
enum class SettingSource : std::uint8_t { kDefault, kFile, kEnvironment, kFlag };

struct SettingOrigin {
    SettingSource source = SettingSource::kDefault;
    std::string place = "default";  // or "ksana.toml:3", "KSANA_PORT", "--port"
    friend bool operator==(const SettingOrigin&, const SettingOrigin&) = default;
};

// Where settings come from, handed in by main() or a test.
struct SettingInputs {
    std::map<std::string, std::string> flags;  // by the name of the setting; "" is not given
    std::string config_file;                   // of --config; "" is not given
    // May hold everything there is; what is of no concern is passed over. "" is not given.
    std::map<std::string, std::string> environment;
    // kNotFound when there is no such file. The message names the path.
    std::function<Result<std::string>(const std::string& path)> read_file;
};

struct LoadedSettings {
    Settings settings;
    std::map<std::string_view, SettingOrigin> origins;  // of every setting, by its name
    std::string file;                                   // that was read; "" is none
};

// Flags over KSANA_… variables over the plain ones of K-17 over the file over the defaults. The
// error names every fault at once, each with its place: "--port", "environment/WORKERS",
// "ksana.toml:3/port". What is overridden must be right too, except a plain variable, which may
// belong to another program. No message shows a password.
Result<LoadedSettings> LoadSettings(const SettingInputs& inputs);

// The store that a server with these inputs would open, for commands beside it. Values of settings
// that have no part in it are not looked at; a name that nobody knows is an error here, too, as it
// may be the misspelt one of the store.
Result<StoreUrl> LoadStoreUrl(const SettingInputs& inputs);

// Nothing given.
Settings DefaultSettings();

// Whether a variable has something to say to LoadSettings; for main(), which hands them over.
bool IsSettingVariable(std::string_view name);

}  // namespace ksana::server
