#include "ksana/server/settings/settings_sources.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "ksana/base/error/check.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/codec/json/flat_toml.hpp"
#include "ksana/server/settings/setting_value.hpp"

namespace ksana::server {
namespace {

constexpr std::string_view kOurs = "KSANA_";
constexpr std::string_view kConfigVariable = "KSANA_CONFIG";
constexpr std::string_view kDefaultFile = "ksana.toml";

// Variables of Ksana's tests, tools and command line, which a server started by them inherits. They
// are not settings.
constexpr std::string_view kTestVariables = "KSANA_TEST_";
constexpr std::array<std::string_view, 5> kToolVariables = {
    "KSANA_JOBS", "KSANA_PROPERTY_PERCENT", "KSANA_SERVER", "KSANA_TOKEN_FILE", "KSANA_TOKEN"};

bool IsToolVariable(std::string_view name) {
    return name.starts_with(kTestVariables) ||
           std::ranges::find(kToolVariables, name) != kToolVariables.end();
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& known) {
    const std::vector<std::string_view> views(known.begin(), known.end());
    const auto meant = Nearest(word, views);
    return meant ? fmt::format("; did you mean {}?", *meant) : "";
}

// Returns "" if the variable is not set; an empty variable counts as not given.
std::string ValueOf(const SettingInputs& inputs, std::string_view variable) {
    const auto found = inputs.environment.find(std::string(variable));
    return found == inputs.environment.end() ? "" : found->second;
}

std::vector<std::string> TextsOf(const SettingSpec& spec, const std::string& text) {
    if (FormOf(spec) == TomlForm::kList) return SplitList(text);
    return {text};
}

// ---- the file

std::string_view Wanted(const SettingSpec& spec) {
    switch (FormOf(spec)) {
        case TomlForm::kInteger:
            return "a whole number";
        case TomlForm::kList:
            return "a list of texts in quotes";
        case TomlForm::kBoolean:
            return "true or false";
        case TomlForm::kText:
            break;
    }
    return "a text in quotes";
}

// Returns the texts of an entry, or nullopt if its type is not that of the setting.
std::optional<std::vector<std::string>> TextsOf(const SettingSpec& spec,
                                                const codec::FlatEntry& entry) {
    const TomlForm form = FormOf(spec);
    if (const auto* text = std::get_if<std::string>(&entry.value)) {
        if (form == TomlForm::kText) return std::vector{*text};
    } else if (const auto* number = std::get_if<std::int64_t>(&entry.value)) {
        if (form == TomlForm::kInteger) return std::vector{std::to_string(*number)};
    } else if (const auto* list = std::get_if<std::vector<std::string>>(&entry.value)) {
        if (form == TomlForm::kList) return *list;
    } else if (const auto truth = std::get<codec::FlatEntry::Other>(entry.value).truth) {
        if (form == TomlForm::kBoolean) return std::vector<std::string>{*truth ? "true" : "false"};
    }
    return std::nullopt;
}

std::string_view KindOf(const codec::FlatEntry& entry) {
    if (const auto* other = std::get_if<codec::FlatEntry::Other>(&entry.value)) return other->kind;
    constexpr std::array<std::string_view, 3> kKinds = {"a text", "a number", "a list"};
    return kKinds.at(entry.value.index());
}

void TakeEntry(const std::string& file, const codec::FlatEntry& entry, GivenSettings& out) {
    const SettingOrigin origin{SettingSource::kFile, fmt::format("{}:{}", file, entry.line)};
    const std::string path = PathOf(origin, Printable(Excerpt(entry.key, 80)));
    const SettingSpec* const spec = FindSetting(entry.key);
    if (spec == nullptr) {
        std::vector<std::string> known;
        for (const SettingSpec& one : AllSettings()) known.emplace_back(one.name);
        out.problems.push_back({path, "there is no such setting" + DidYouMean(entry.key, known)});
        return;
    }
    auto texts = TextsOf(*spec, entry);
    if (!texts) {
        out.problems.push_back(
            {path, fmt::format("must be {}, not {}", Wanted(*spec), KindOf(entry))});
        return;
    }
    out.settings.push_back({spec, origin, std::move(*texts)});
}

// The configuration file to read.
struct FileChoice {
    std::string path;
    std::string named_by;  // the flag or variable; "": the default file, which may be missing
};

FileChoice ChooseFile(const SettingInputs& inputs) {
    if (!inputs.config_file.empty()) return {inputs.config_file, "--config"};
    std::string path = ValueOf(inputs, kConfigVariable);
    if (!path.empty()) return {std::move(path), fmt::format("environment/{}", kConfigVariable)};
    return {std::string(kDefaultFile), ""};
}

void ReadFile(const SettingInputs& inputs, GivenSettings& out) {
    const FileChoice choice = ChooseFile(inputs);
    const std::string shown = Printable(choice.path);
    const auto text = inputs.read_file(choice.path);
    if (!text) {
        if (choice.named_by.empty() && text.error().code == Code::kNotFound) return;
        out.problems.push_back(
            {choice.named_by.empty() ? shown : choice.named_by, text.error().message});
        return;
    }
    out.file = choice.path;
    const auto entries = codec::ParseFlatToml(*text);
    if (!entries) {
        out.problems.push_back({shown, entries.error().message});
        return;
    }
    for (const codec::FlatEntry& entry : *entries) TakeEntry(shown, entry, out);
}

// ---- the environment

GivenSetting FromVariable(const SettingSpec& spec, std::string name, const std::string& text) {
    return {&spec, {SettingSource::kEnvironment, std::move(name)}, TextsOf(spec, text)};
}

void ReadVariables(const SettingSpec& spec, const SettingInputs& inputs, GivenSettings& out) {
    const std::string plain = ValueOf(inputs, spec.plain_variable);
    if (!plain.empty()) {
        out.settings.push_back(FromVariable(spec, std::string(spec.plain_variable), plain));
        out.settings.back().plain = true;
    }
    const std::string first = VariableOf(spec);
    const std::string first_text = ValueOf(inputs, first);
    const std::string second(spec.second_variable);
    const std::string second_text = ValueOf(inputs, second);
    if (!first_text.empty() && !second_text.empty() && first_text != second_text) {
        out.problems.push_back(
            {"environment/" + first, fmt::format("{} and {} mean the same setting and are "
                                                 "different; keep one of them",
                                                 first, second)});
    }
    if (!second_text.empty()) out.settings.push_back(FromVariable(spec, second, second_text));
    if (!first_text.empty()) out.settings.push_back(FromVariable(spec, first, first_text));
}

std::vector<std::string> KnownVariables() {
    std::vector<std::string> known = {std::string(kConfigVariable)};
    for (const SettingSpec& spec : AllSettings()) {
        for (std::string& name : VariablesOf(spec)) known.push_back(std::move(name));
    }
    return known;
}

void FindUnknownVariables(const SettingInputs& inputs, GivenSettings& out) {
    const std::vector<std::string> known = KnownVariables();
    for (const auto& [name, value] : inputs.environment) {
        if (!name.starts_with(kOurs) || IsToolVariable(name)) continue;
        if (std::ranges::find(known, name) != known.end()) continue;
        out.problems.push_back({"environment/" + Printable(Excerpt(name, 80)),
                                "there is no such setting" + DidYouMean(name, known)});
    }
}

// ---- the flags

void ReadFlags(const SettingInputs& inputs, GivenSettings& out) {
    for (const auto& [name, text] : inputs.flags) {
        const SettingSpec* const spec = FindSetting(name);
        KSANA_CHECK(spec != nullptr, "a flag that is no setting: " + name);
        if (text.empty()) continue;
        out.settings.push_back(
            {spec, {SettingSource::kFlag, "--" + FlagOf(*spec)}, TextsOf(*spec, text)});
    }
}

}  // namespace

GivenSettings ReadSources(const SettingInputs& inputs) {
    KSANA_CHECK(inputs.read_file != nullptr, "nobody to read the file");
    GivenSettings out;
    ReadFile(inputs, out);
    for (const SettingSpec& spec : AllSettings()) ReadVariables(spec, inputs, out);
    FindUnknownVariables(inputs, out);
    ReadFlags(inputs, out);
    return out;
}

std::string PathOf(const SettingOrigin& origin, std::string_view name) {
    switch (origin.source) {
        case SettingSource::kFlag:
            return origin.place;
        case SettingSource::kEnvironment:
            return "environment/" + origin.place;
        case SettingSource::kFile:
            return fmt::format("{}/{}", origin.place, name);
        case SettingSource::kDefault:
            break;
    }
    return std::string(name);
}

bool IsSettingVariable(std::string_view name) {
    const std::vector<std::string> known = KnownVariables();
    return name.starts_with(kOurs) || std::ranges::find(known, name) != known.end();
}

}  // namespace ksana::server
