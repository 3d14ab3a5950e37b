#include "ksana/server/settings/setting_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "ksana/base/error/check.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/server/settings/byte_size.hpp"

namespace ksana::server {
namespace {

using Fault = std::optional<std::string>;

// In the order of LogFormat and EgressPolicy.
constexpr std::array<std::string_view, 2> kLogFormats = {"text", "json"};
constexpr std::array<std::string_view, 2> kEgressPolicies = {"default", "public"};
constexpr std::string_view kStoreAsBroker = "store";

Error WrongValue(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

template <class Enum>
Result<Enum> ParseName(std::string_view text, std::span<const std::string_view> names) {
    const auto found = std::ranges::find(names, text);
    if (found != names.end()) return static_cast<Enum>(found - names.begin());
    const auto meant = Nearest(text, names);
    return WrongValue(fmt::format("\"{}\" is neither {} nor {}{}", Printable(Excerpt(text, 80)),
                                  names[0], names[1],
                                  meant ? fmt::format("; did you mean {}?", *meant) : ""));
}

// One Parse and one Show overload for each type in the table.
Result<std::int32_t> Parse(std::string_view text, std::int32_t) {
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) return WrongValue("is out of range");
    if (error != std::errc() || end != text.data() + text.size()) {
        return WrongValue(fmt::format("\"{}\" is no whole number", Printable(Excerpt(text, 80))));
    }
    return value;
}
Result<bool> Parse(std::string_view text, bool) {
    if (text == "true" || text == "false") return text == "true";
    return WrongValue(
        fmt::format("\"{}\" is neither true nor false", Printable(Excerpt(text, 80))));
}
Result<Duration> Parse(std::string_view text, Duration) { return ParseDuration(text); }
Result<std::uint64_t> Parse(std::string_view text, std::uint64_t) { return ParseByteSize(text); }
Result<LogLevel> Parse(std::string_view text, LogLevel) { return ParseLogLevel(text); }
Result<LogFormat> Parse(std::string_view text, LogFormat) {
    return ParseName<LogFormat>(text, kLogFormats);
}
Result<EgressPolicy> Parse(std::string_view text, EgressPolicy) {
    return ParseName<EgressPolicy>(text, kEgressPolicies);
}

std::string Show(std::int32_t value) { return std::to_string(value); }
std::string Show(bool value) { return value ? "true" : "false"; }
std::string Show(Duration value) { return FormatDuration(value); }
std::string Show(std::uint64_t value) { return FormatByteSize(value); }
std::string Show(LogLevel value) { return std::string(LogLevelName(value)); }
std::string Show(LogFormat value) {
    return std::string(kLogFormats.at(static_cast<std::size_t>(value)));
}
std::string Show(EgressPolicy value) {
    return std::string(kEgressPolicies.at(static_cast<std::size_t>(value)));
}
std::string Show(const std::string& value) { return Printable(value); }
std::string Show(const StoreUrl& value) { return ShownUrl(value); }
std::string Show(const lock::LockUrl& value) { return lock::ShownUrl(value); }
std::string Show(const std::optional<broker::BrokerUrl>& value) {
    return value ? value->name() : std::string(kStoreAsBroker);
}
std::string Show(const std::vector<std::string>& value) {
    return fmt::format("{}", fmt::join(value, ", "));
}

// A visitor of SettingMember that parses and sets one value. Returns what is wrong with it, or
// nullopt.
class Setter {
  public:
    Setter(const SettingSpec& spec, const std::vector<std::string>& texts, Settings& settings)
        : spec_(spec), texts_(texts), settings_(settings) {}

    template <class T>
    Fault operator()(T Settings::*member) const {
        auto value = Parse(Text(), T{});
        if (!value) return value.error().message;
        if (!spec_.low.empty() &&
            (*value < Parse(spec_.low, T{}).value() || *value > Parse(spec_.high, T{}).value())) {
            return fmt::format("must be from {} to {}", spec_.low, spec_.high);
        }
        settings_.*member = *value;
        return std::nullopt;
    }

    Fault operator()(std::string Settings::*member) const {
        if (auto fault = FaultOf(Text())) return fault;
        if (Text().empty() && !spec_.default_text.empty()) return "must not be empty";
        settings_.*member = Text();
        return std::nullopt;
    }

    Fault operator()(StoreUrl Settings::*member) const {
        auto url = ParseStoreUrl(Text(), settings_.data_dir);
        if (!url) return url.error().message;
        settings_.*member = std::move(*url);
        return std::nullopt;
    }

    Fault operator()(lock::LockUrl Settings::*member) const {
        auto url = lock::ParseLockUrl(Text());
        if (!url) return url.error().message;
        settings_.*member = std::move(*url);
        return std::nullopt;
    }

    Fault operator()(std::optional<broker::BrokerUrl> Settings::*member) const {
        (settings_.*member).reset();
        if (Text() == kStoreAsBroker) return std::nullopt;
        auto url = broker::ParseBrokerUrl(Text());
        if (!url) return url.error().message;
        settings_.*member = std::move(*url);
        return std::nullopt;
    }

    Fault operator()(std::vector<std::string> Settings::*member) const {
        for (const std::string& text : texts_) {
            if (auto fault = FaultOf(text)) return fault;
        }
        settings_.*member = texts_;
        return std::nullopt;
    }

  private:
    const std::string& Text() const {
        KSANA_CHECK(texts_.size() == 1, "one text for a setting that is no list");
        return texts_.front();
    }

    Fault FaultOf(const std::string& text) const {
        if (text.find('\0') != std::string::npos) return "cannot hold a zero byte";
        return spec_.fault_of != nullptr ? spec_.fault_of(text) : std::nullopt;
    }

    const SettingSpec& spec_;
    const std::vector<std::string>& texts_;
    Settings& settings_;
};

std::string_view Trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

}  // namespace

TomlForm FormOf(const SettingSpec& spec) {
    if (std::holds_alternative<std::int32_t Settings::*>(spec.member)) return TomlForm::kInteger;
    if (std::holds_alternative<bool Settings::*>(spec.member)) return TomlForm::kBoolean;
    using List = std::vector<std::string> Settings::*;
    return std::holds_alternative<List>(spec.member) ? TomlForm::kList : TomlForm::kText;
}

std::optional<std::string> SetValue(const SettingSpec& spec, const std::vector<std::string>& texts,
                                    Settings& settings) {
    return std::visit(Setter(spec, texts, settings), spec.member);
}

std::vector<std::string> SplitList(std::string_view text) {
    std::vector<std::string> items;
    if (Trimmed(text).empty()) return items;
    for (;;) {
        const std::size_t comma = text.find(',');
        items.emplace_back(Trimmed(text.substr(0, comma)));
        if (comma == std::string_view::npos) return items;
        text.remove_prefix(comma + 1);
    }
}

std::string ShownValue(const SettingSpec& spec, const Settings& settings) {
    return std::visit([&](auto member) { return Show(settings.*member); }, spec.member);
}

}  // namespace ksana::server
