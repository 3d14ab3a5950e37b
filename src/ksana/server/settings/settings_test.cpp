#include "ksana/server/settings/settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "ksana/server/settings/setting_table.hpp"
#include "ksana/server/settings/setting_value.hpp"

namespace ksana::server {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using Texts = std::map<std::string, std::string>;

// The inputs of a test; `files` maps paths to contents.
struct Given {
    Texts flags = {};
    Texts environment = {};
    Texts files = {};
    std::string config_file = {};
};

Result<LoadedSettings> Load(const Given& given) {
    const auto read = [&](const std::string& path) -> Result<std::string> {
        const auto found = given.files.find(path);
        if (found == given.files.end()) return Error(Code::kNotFound, "cannot open " + path);
        return found->second;
    };
    return LoadSettings({given.flags, given.config_file, given.environment, read});
}

LoadedSettings Good(const Given& given) {
    auto loaded = Load(given);
    EXPECT_TRUE(loaded) << loaded.error().Describe();
    return loaded ? *loaded : LoadedSettings{};
}

std::vector<Problem> Faults(const Given& given) {
    const auto loaded = Load(given);
    EXPECT_FALSE(loaded);
    if (loaded) return {};
    EXPECT_EQ(loaded.error().code, Code::kInvalidArgument);
    return loaded.error().problems;
}

Problem OneFault(const Given& given) {
    const auto faults = Faults(given);
    EXPECT_EQ(faults.size(), 1U) << Load(given).error().Describe();
    return faults.empty() ? Problem{} : faults.front();
}

void ExpectFault(const Given& given, const std::string& path, const std::string& part) {
    const Problem fault = OneFault(given);
    EXPECT_EQ(fault.path, path);
    EXPECT_NE(fault.message.find(part), std::string::npos) << fault.message;
}

SettingOrigin OriginOf(const LoadedSettings& loaded, std::string_view name) {
    return loaded.origins.at(name);
}

// K-17
TEST(Settings, Defaults) {
    const LoadedSettings loaded = Good({});
    const Settings& s = loaded.settings;
    EXPECT_EQ(s.address, "127.0.0.1");
    EXPECT_EQ(s.port, 7100);
    EXPECT_EQ(s.data_dir, "./data");
    EXPECT_EQ(s.store, (StoreUrl{StoreKind::kSqlite, "data/ksana.db"}));
    EXPECT_EQ(s.workers, 4);
    EXPECT_EQ(s.default_timeout, seconds(10));
    EXPECT_EQ(s.max_retries, 3);
    EXPECT_EQ(s.retry_backoff, seconds(5));
    EXPECT_EQ(s.log_level, LogLevel::kInfo);
    EXPECT_EQ(s.log_format, LogFormat::kText);
    EXPECT_EQ(s.egress, EgressPolicy::kDefault);
    EXPECT_TRUE(s.egress_allow.empty());
    EXPECT_EQ(s.shutdown_timeout, seconds(30));
    EXPECT_EQ(s.retention, hours(30 * 24));
    EXPECT_EQ(s.audit_retention, hours(90 * 24));
    EXPECT_EQ(s.lease, seconds(15));
    EXPECT_EQ(s.late_start_rate, 500);
    EXPECT_EQ(s.start_rate, 0);
    EXPECT_EQ(s.breaker_failures, 5);
    EXPECT_EQ(s.breaker_pause, std::chrono::seconds(5));
    EXPECT_EQ(s.breaker_max, std::chrono::minutes(1));
    EXPECT_EQ(s.max_body, 1'000'000U);
    EXPECT_EQ(s.request_threads, 16);
    for (const auto* text :
         {&s.log_file, &s.tls_certificate, &s.tls_key, &s.node_name, &s.api_token_file}) {
        EXPECT_EQ(*text, "");
    }
    EXPECT_EQ(loaded.origins.size(), AllSettings().size());
    EXPECT_EQ(OriginOf(loaded, "port"), (SettingOrigin{SettingSource::kDefault, "default"}));
    EXPECT_EQ(loaded.file, "");
    EXPECT_EQ(DefaultSettings().store, s.store);
}

// K-17
TEST(Settings, TheNamesOfTheDocumentAreRead) {
    const LoadedSettings loaded = Good({.environment = {{"PORT", "8080"},
                                                        {"DATA_DIR", "/var/d"},
                                                        {"WORKERS", "9"},
                                                        {"DEFAULT_TIMEOUT", "1m30s"},
                                                        {"MAX_RETRIES", "0"},
                                                        {"RETRY_BACKOFF", "250ms"},
                                                        {"LOG_LEVEL", "debug"},
                                                        {"HOME", "/h"}}});
    const Settings& s = loaded.settings;
    EXPECT_EQ(s.port, 8080);
    EXPECT_EQ(s.data_dir, "/var/d");
    EXPECT_EQ(s.store.location, "/var/d/ksana.db");
    EXPECT_EQ(s.workers, 9);
    EXPECT_EQ(s.default_timeout, seconds(90));
    EXPECT_EQ(s.max_retries, 0);
    EXPECT_EQ(s.retry_backoff, std::chrono::milliseconds(250));
    EXPECT_EQ(s.log_level, LogLevel::kDebug);
    EXPECT_EQ(OriginOf(loaded, "port"), (SettingOrigin{SettingSource::kEnvironment, "PORT"}));
    EXPECT_EQ(Good({.environment = {{"KSANA_DATA", "/k"}}}).settings.data_dir, "/k");
}

TEST(Settings, FlagsBeatOurVariablesBeatPlainOnesBeatTheFileBeatDefaults) {
    Given given{.flags = {{"port", "1"}},
                .environment = {{"KSANA_PORT", "2"}, {"PORT", "3"}},
                .files = {{"ksana.toml", "# mine\n\nport = 4\n"}}};
    const auto check = [&](int port, SettingSource source, const std::string& place) {
        const LoadedSettings loaded = Good(given);
        EXPECT_EQ(loaded.settings.port, port);
        EXPECT_EQ(OriginOf(loaded, "port"), (SettingOrigin{source, place}));
    };
    check(1, SettingSource::kFlag, "--port");
    given.flags["port"] = "";  // not given
    check(2, SettingSource::kEnvironment, "KSANA_PORT");
    given.environment["KSANA_PORT"] = "";
    check(3, SettingSource::kEnvironment, "PORT");
    given.environment.erase("PORT");
    check(4, SettingSource::kFile, "ksana.toml:3");
    given.files.clear();
    check(7100, SettingSource::kDefault, "default");
}

// For each setting, by name, a valid value that is not the default.
Texts OtherValues() {
    return {{"address", "127.0.0.2"},
            {"port", "81"},
            {"data_dir", "/d"},
            {"store", "memory:"},
            {"lock", "memory:"},
            {"lock_prefix", "staging"},
            {"broker", "amqp://guest@h:5672"},
            {"broker_prefix", "staging"},
            {"broker_categories", "mail, print"},
            {"broker_queue_length", "7"},
            {"broker_wait", "1m"},
            {"workers", "10000"},
            {"commands", "true"},
            {"worker_heartbeat", "5s"},
            {"worker_timeout", "15s"},
            {"default_timeout", "1s"},
            {"max_retries", "7"},
            {"retry_backoff", "0s"},
            {"log_level", "error"},
            {"log_format", "json"},
            {"log_file", "/l"},
            {"tls_certificate", "/c"},
            {"tls_key", "/k"},
            {"tls_ca_file", "/ca"},
            {"tls_crl_file", "/crl"},
            {"egress", "public"},
            {"egress_allow", "10.0.0.0/8, fd00::/8"},
            {"shutdown_timeout", "0s"},
            {"retention", "0s"},
            {"max_finished_runs", "1000"},
            {"max_finished_bytes", "1GiB"},
            {"audit_retention", "0s"},
            {"lease", "3s"},
            {"late_start_rate", "1"},
            {"start_rate", "7"},
            {"breaker_failures", "0"},
            {"breaker_pause", "2s"},
            {"breaker_max", "2m"},
            {"max_body", "2MiB"},
            {"max_bodies", "3MiB"},
            {"allowed_hosts", "ksana.example, 10.0.0.5"},
            {"node_name", "n"},
            {"request_threads", "1"},
            {"api_token_file", "/t"},
            {"callback_timeout", "3s"},
            {"callback_retries", "2"},
            {"callback_backoff", "1s"},
            {"callback_max_backoff", "30m"},
            {"smtp_url", "smtp://127.0.0.1:2525"},
            {"smtp_user", "u"},
            {"smtp_password_file", "/p"},
            {"smtp_from", "ksana@example.com"},
            {"smtp_tls", "never"}};
}

std::string TomlOf(const SettingSpec& spec, const std::string& value) {
    const std::string key = std::string(spec.name) + " = ";
    const TomlForm form = FormOf(spec);
    if (form == TomlForm::kInteger || form == TomlForm::kBoolean) return key + value + "\n";
    if (FormOf(spec) == TomlForm::kText) return key + '"' + value + "\"\n";
    std::string items;
    for (const std::string& item : SplitList(value)) {
        items += (items.empty() ? "\"" : ", \"") + item + '"';
    }
    return key + "[" + items + "]\n";
}

TEST(Settings, EverySettingCanBeGivenByFlagVariableAndFile) {
    Given by_flag{.flags = OtherValues()};
    Given by_variable;
    Given by_file;
    ASSERT_EQ(by_flag.flags.size(), AllSettings().size());
    for (const SettingSpec& spec : AllSettings()) {
        const std::string& value = by_flag.flags.at(std::string(spec.name));
        by_variable.environment[VariableOf(spec)] = value;
        by_file.files["ksana.toml"] += TomlOf(spec, value);
    }
    for (const Given* given : {&by_flag, &by_variable, &by_file}) {
        const LoadedSettings loaded = Good(*given);
        for (const SettingSpec& spec : AllSettings()) {
            EXPECT_EQ(ShownValue(spec, loaded.settings), OtherValues().at(std::string(spec.name)));
            EXPECT_NE(OriginOf(loaded, spec.name).source, SettingSource::kDefault) << spec.name;
        }
    }
}

TEST(Settings, TwoNamesOfOneSettingMustAgree) {
    Given given{.environment = {{"KSANA_DATA", "a"}, {"KSANA_DATA_DIR", "a"}, {"DATA_DIR", "b"}}};
    EXPECT_EQ(Good(given).settings.data_dir, "a");
    given.environment["KSANA_DATA"] = "c";
    ExpectFault(given, "environment/KSANA_DATA_DIR", "KSANA_DATA_DIR and KSANA_DATA");
}

// K-17, D-12: KSANA_STORE=json alone is the JSON file in the data folder.
TEST(Settings, ABareStoreIsAFileInTheDataFolder) {
    const auto store = [](const Texts& environment) {
        return Good({.environment = environment}).settings.store;
    };
    EXPECT_EQ(store({{"KSANA_STORE", "json"}}), (StoreUrl{StoreKind::kJson, "data/jobs.json"}));
    EXPECT_EQ(store({{"KSANA_STORE", "json"}, {"KSANA_DATA", "/d"}}),
              (StoreUrl{StoreKind::kJson, "/d/jobs.json"}));
    EXPECT_EQ(store({{"KSANA_STORE", "sqlite"}, {"DATA_DIR", "x"}}).location, "x/ksana.db");
    EXPECT_EQ(store({{"KSANA_STORE", "memory"}}).kind, StoreKind::kMemory);
    EXPECT_EQ(store({{"KSANA_STORE", "sqlite:k.db"}, {"DATA_DIR", "x"}}).location, "k.db");
}

TEST(Settings, AnUnknownVariableOfOursIsRefused) {
    ExpectFault({.environment = {{"KSANA_PROT", "1"}}}, "environment/KSANA_PROT",
                "did you mean KSANA_PORT?");
    ExpectFault({.environment = {{"KSANA_SOMETHING_ELSE", "1"}}},
                "environment/KSANA_SOMETHING_ELSE", "no such setting");
    Good({.environment = {{"KSANA_TEST_POSTGRES", "x"},
                          {"KSANA_JOBS", "2"},
                          {"KSANA_PROPERTY_PERCENT", "4"},
                          {"KSANA_SERVER", "http://127.0.0.1:7100"},
                          {"KSANA_TOKEN_FILE", "x"},
                          {"WORKRES", "x"}}});
    for (const char* ours : {"PORT", "DATA_DIR", "KSANA_DATA", "KSANA_PROT", "LOG_LEVEL"}) {
        EXPECT_TRUE(IsSettingVariable(ours)) << ours;
    }
    EXPECT_FALSE(IsSettingVariable("HOME"));
}

TEST(Settings, TheFileIsChosenByFlagThenVariableThenPlace) {
    Given given{
        .environment = {{"KSANA_CONFIG", "b.toml"}},
        .files = {{"a.toml", "port = 1"}, {"b.toml", "port = 2"}, {"ksana.toml", "port = 3"}},
        .config_file = "a.toml"};
    EXPECT_EQ(Good(given).settings.port, 1);
    EXPECT_EQ(Good(given).file, "a.toml");
    given.config_file = "";
    EXPECT_EQ(Good(given).settings.port, 2);
    given.environment.clear();
    EXPECT_EQ(Good(given).settings.port, 3);
    EXPECT_EQ(Good(given).file, "ksana.toml");
}

TEST(Settings, AFileThatIsNamedMustBeThere) {
    ExpectFault({.config_file = "x.toml"}, "--config", "cannot open x.toml");
    ExpectFault({.environment = {{"KSANA_CONFIG", "x.toml"}}}, "environment/KSANA_CONFIG",
                "cannot open x.toml");
}

TEST(Settings, UnknownKeysAndWrongTypesOfTheFileHaveTheirLine) {
    const auto file = [](const std::string& text) {
        return Given{.files = {{"ksana.toml", text}}};
    };
    ExpectFault(file("workers = 1\nprot = 1"), "ksana.toml:2/prot", "did you mean port?");
    ExpectFault(file("port = '80'"), "ksana.toml:1/port", "must be a whole number, not a text");
    ExpectFault(file("port = 80.5"), "ksana.toml:1/port", "not a number with a fraction");
    ExpectFault(file("default_timeout = 10"), "ksana.toml:1/default_timeout",
                "must be a text in quotes, not a number");
    ExpectFault(file("egress_allow = '10.0.0.0/8'"), "ksana.toml:1/egress_allow",
                "must be a list of texts in quotes, not a text");
    ExpectFault(file("egress_allow = [1]"), "ksana.toml:1/egress_allow", "must be a list");
    ExpectFault(file("[server]\nport = 1"), "ksana.toml:1/server", "no such setting");
    ExpectFault(file("port = 99999999999"), "ksana.toml:1/port", "out of range");
    ExpectFault(file("address = ''"), "ksana.toml:1/address", "no IP address");
    ExpectFault(file("data_dir = ''"), "ksana.toml:1/data_dir", "must not be empty");
    ExpectFault(file("port = = 1"), "ksana.toml", "line 1");
    Good(file("log_file = ''"));
}

TEST(Settings, ValuesAreCheckedAgainstTheirBounds) {
    const std::vector<std::array<std::string, 3>> cases = {
        {"port", "65536", "from 0 to 65535"},
        {"port", "-1", "from 0 to 65535"},
        {"port", "80x", "no whole number"},
        {"port", "99999999999", "out of range"},
        {"workers", "0", "from 1 to 10000"},
        {"commands", "yes", "neither true nor false"},
        {"workers", "10001", "from 1 to 10000"},
        {"default_timeout", "0s", "from 1ms to 24h"},
        {"default_timeout", "10", ""},
        {"max_retries", "-1", "from 0"},
        {"retry_backoff", "-1s", "from 0s"},
        {"retention", "-1h", "from 0s"},
        {"lease", "500ms", "1s"},
        {"lease", "11m", "10m"},
        {"late_start_rate", "0", "from 1"},
        {"start_rate", "-1", "from 0"},
        {"breaker_pause", "0s", "from 100ms to 1h"},
        {"max_body", "10B", "from 1KB to 1GB"},
        {"max_bodies", "1KB", "from 1MB to 100GB"},
        {"allowed_hosts", "ksana.example:7100", "without port"},
        {"allowed_hosts", "http://ksana.example", "no name of a host"},
        {"max_body", "1XB", "such as 1MB"},
        {"request_threads", "0", "from 1"},
        {"log_level", "inof", "did you mean info?"},
        {"log_format", "jsn", "did you mean json?"},
        {"egress", "none", "neither default nor public"},
        {"egress_allow", "10.0.0.0/8,10.0.0.0/99", "10.0.0.0/99"},
        {"egress_allow", "10.0.0.0/8,", "no range"},
        {"store", "sqlit:k.db", "did you mean sqlite?"},
        {"lock", "reddis://h", "redis"},
        {"broker", "kafka://h", "amqp"},
        {"broker_prefix", "a b", "letters"},
        {"broker_prefix", std::string(65, 'a'), "64"},
        {"broker_categories", "mail,print jobs", "print jobs"},
        {"address", "example.org", "no IP address"},
    };
    for (const auto& [name, value, part] : cases) {
        const std::string flag = "--" + FlagOf(*FindSetting(name));
        ExpectFault({.flags = {{name, value}}}, flag, part);
    }
    EXPECT_EQ(Good({.flags = {{"port", "0"}}}).settings.port, 0);
}

// K-17: nothing starts, and the error lists all faults at once.
TEST(Settings, AllFaultsAreReportedAtOnce) {
    const Given given{.flags = {{"log_level", "loud"}},
                      .environment = {{"WORKERS", "none"}, {"KSANA_PROT", "1"}},
                      .files = {{"ksana.toml", "workers = 5\n\nport = 'x'\nmax_body = '0B'"}}};
    std::vector<std::string> paths;
    for (const Problem& problem : Faults(given)) paths.push_back(problem.path);
    std::ranges::sort(paths);
    EXPECT_EQ(paths, (std::vector<std::string>{"--log-level", "environment/KSANA_PROT",
                                               "environment/WORKERS", "ksana.toml:3/port",
                                               "ksana.toml:4/max_body"}));
    EXPECT_EQ(Load(given).error().message, "the configuration has 5 problems");
}

TEST(Settings, WhatIsOverriddenMustBeRightUnlessItIsAPlainVariable) {
    Given given{.flags = {{"port", "1"}}, .environment = {{"PORT", "tcp://1.2.3.4:80"}}};
    EXPECT_EQ(Good(given).settings.port, 1);
    given.environment["KSANA_PORT"] = "x";
    ExpectFault(given, "environment/KSANA_PORT", "no whole number");
    ExpectFault({.environment = {{"PORT", "x"}}}, "environment/PORT", "no whole number");
    ExpectFault({.flags = {{"port", "1"}}, .files = {{"ksana.toml", "port = -1"}}},
                "ksana.toml:1/port", "from 0");
}

TEST(Settings, BeyondLoopbackATokenIsNeeded) {
    for (const char* address : {"0.0.0.0", "::", "10.0.0.1"}) {
        ExpectFault({.environment = {{"KSANA_ADDRESS", address}}}, "environment/KSANA_ADDRESS",
                    "--api-token-file or KSANA_API_TOKEN_FILE");
        Good({.environment = {{"KSANA_ADDRESS", address}, {"KSANA_API_TOKEN_FILE", "/t"}}});
    }
    for (const char* address : {"127.0.0.9", "::1", "localhost"}) {
        EXPECT_EQ(Good({.flags = {{"address", address}}}).settings.address, address);
    }
}

TEST(Settings, CertificateAndKeyGoTogether) {
    ExpectFault({.flags = {{"tls_certificate", "c"}}}, "--tls-certificate", "tls_key");
    ExpectFault({.flags = {{"tls_key", "k"}}}, "--tls-key", "tls_certificate");
    ExpectFault({.flags = {{"tls_crl_file", "c"}}}, "--tls-crl-file", "tls_ca_file");
}

TEST(Settings, APasswordIsNeverShown) {
    const std::string url = "postgres://u:secret@h/db";
    const LoadedSettings loaded = Good({.environment = {{"KSANA_STORE", url}}});
    EXPECT_EQ(loaded.settings.store.location, url);
    EXPECT_EQ(ShownValue(*FindSetting("store"), loaded.settings), "postgres://u:***@h/db");
    const std::vector<Given> wrong = {
        {.environment = {{"KSANA_STORE", "postgers://u:secret@h/db"}}},
        {.environment = {{"KSANA_STORE", url + "?ksana_pooler=secret"}}},
        {.files = {{"ksana.toml", "store = postgres://u:secret@h/db"}}},
        {.files = {{"ksana.toml", "store = ['postgres://u:secret@h/db']"}}},
        {.files = {{"ksana.toml", "stroe = 'postgres://u:secret@h/db'"}}},
        {.environment = {{"KSANA_STROE", url}}},
    };
    for (const Given& given : wrong) {
        EXPECT_EQ(Load(given).error().Describe().find("secret"), std::string::npos)
            << Load(given).error().Describe();
    }
}

TEST(SettingsDeathTest, AFlagThatIsNoSettingIsAProgrammerError) {
    EXPECT_DEATH((void)Load({.flags = {{"prot", "1"}}}), "a flag that is no setting");
}

}  // namespace
}  // namespace ksana::server
