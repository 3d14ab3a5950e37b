#include "ksana/server/settings/settings.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/error/check.hpp"
#include "ksana/server/settings/network_text.hpp"
#include "ksana/server/settings/setting_table.hpp"
#include "ksana/server/settings/setting_value.hpp"
#include "ksana/server/settings/settings_sources.hpp"

namespace ksana::server {
namespace {

void SetDefault(const SettingSpec& spec, Settings& settings) {
    const std::string text(spec.default_text);
    const auto texts =
        FormOf(spec) == TomlForm::kList ? SplitList(text) : std::vector<std::string>{text};
    const auto fault = SetValue(spec, texts, settings);
    KSANA_CHECK(!fault, fmt::format("the default of {}: {}", spec.name, fault.value_or("")));
}

bool IsOfStore(const SettingSpec& spec) { return spec.name == "data_dir" || spec.name == "store"; }

// Merges the given values, one setting after the other, and collects all problems. Used once, by
// one thread.
class Merge {
  public:
    explicit Merge(GivenSettings given) : given_(std::move(given)) {}

    Result<LoadedSettings> Run() {
        for (const SettingSpec& spec : AllSettings()) Take(spec);
        CheckToken();
        CheckTls();
        if (!given_.problems.empty()) return Refusal();
        loaded_.file = given_.file;
        return std::move(loaded_);
    }

    Result<StoreUrl> RunForStore() {
        for (const SettingSpec& spec : AllSettings()) {
            if (IsOfStore(spec)) Take(spec);
        }
        if (!given_.problems.empty()) return Refusal();
        return std::move(loaded_.settings.store);
    }

  private:
    Error Refusal() {
        const std::size_t count = given_.problems.size();
        Error error(std::move(given_.problems));
        error.message = count == 1 ? "the configuration has a problem"
                                   : fmt::format("the configuration has {} problems", count);
        return error;
    }

    // Applies the values from the weakest to the strongest source: each is checked, and the last
    // valid one stays.
    void Take(const SettingSpec& spec) {
        SetDefault(spec, loaded_.settings);
        SettingOrigin& origin = loaded_.origins[spec.name];
        for (const GivenSetting& given : given_.settings) {
            if (given.spec != &spec || (given.plain && HasStronger(given))) continue;
            if (auto fault = SetValue(spec, given.texts, loaded_.settings)) {
                given_.problems.push_back({PathOf(given.origin, spec.name), std::move(*fault)});
            } else {
                origin = given.origin;
            }
        }
    }

    // Returns whether a plain variable is overridden. Its value is not checked then.
    bool HasStronger(const GivenSetting& plain) const {
        return std::ranges::any_of(given_.settings, [&](const GivenSetting& other) {
            return other.spec == plain.spec && !other.plain &&
                   other.origin.source >= SettingSource::kEnvironment;
        });
    }

    void FaultAt(std::string_view name, std::string message) {
        given_.problems.push_back({PathOf(loaded_.origins.at(name), name), std::move(message)});
    }

    // A client that can reach the server can make it call any address, so an address beyond
    // loopback requires a token.
    void CheckToken() {
        const Settings& settings = loaded_.settings;
        if (IsLoopback(settings.address) || !settings.api_token_file.empty()) return;
        FaultAt("address",
                fmt::format("{} can be reached from other machines, and nothing guards it: set "
                            "api_token_file (--api-token-file or KSANA_API_TOKEN_FILE) to a file "
                            "with a token, or listen on 127.0.0.1",
                            settings.address));
    }

    void CheckTls() {
        const bool certificate = !loaded_.settings.tls_certificate.empty();
        const bool key = !loaded_.settings.tls_key.empty();
        if (certificate && !key) FaultAt("tls_certificate", "needs tls_key beside it");
        if (key && !certificate) FaultAt("tls_key", "needs tls_certificate beside it");
        if (!loaded_.settings.tls_crl_file.empty() && loaded_.settings.tls_ca_file.empty()) {
            FaultAt("tls_crl_file", "needs tls_ca_file beside it: every authority needs a list");
        }
    }

    GivenSettings given_;
    LoadedSettings loaded_;
};

}  // namespace

Result<LoadedSettings> LoadSettings(const SettingInputs& inputs) {
    return Merge(ReadSources(inputs)).Run();
}

Result<StoreUrl> LoadStoreUrl(const SettingInputs& inputs) {
    return Merge(ReadSources(inputs)).RunForStore();
}

Settings DefaultSettings() {
    Settings settings;
    for (const SettingSpec& spec : AllSettings()) SetDefault(spec, settings);
    return settings;
}

}  // namespace ksana::server
