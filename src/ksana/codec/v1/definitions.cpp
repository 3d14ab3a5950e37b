#include "ksana/codec/v1/definitions.hpp"

#include <fmt/core.h>

#include <boost/json/array.hpp>

#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/calendar/calendar_codec.hpp"
#include "ksana/codec/json/json_parse.hpp"
#include "ksana/codec/json/toml_parse.hpp"
#include "ksana/codec/v1/job_view.hpp"

namespace ksana::codec {
namespace {

namespace json = boost::json;

void ReadRate(JsonReader& reader, const Node& node, DefinedGroup::Rate& rate) {
    ObjectReader object(reader, node);
    object.Required("count", rate.count);
    object.Required("per", rate.per);
    object.Optional("burst", rate.burst);
    object.Finish();
}

void ReadGroup(JsonReader& reader, const Node& node, DefinedGroup& group) {
    ObjectReader object(reader, node);
    object.Required("name", group.name);
    object.Optional("description", group.description);
    object.Optional("max_concurrency", group.max_concurrency);
    if (const auto rate = object.Find("rate")) ReadRate(reader, *rate, group.rate.emplace());
    object.Finish();
}

void WriteGroup(JsonOutput& output, const DefinedGroup& group) {
    output.BeginObject();
    output.Key("name");
    output.Text(group.name);
    if (!group.description.empty()) {
        output.Key("description");
        output.Text(group.description);
    }
    if (group.max_concurrency) {
        output.Key("max_concurrency");
        output.Int(*group.max_concurrency);
    }
    if (group.rate) {
        output.Key("rate");
        output.BeginObject();
        output.Key("count");
        output.Int(group.rate->count);
        output.Key("per");
        output.Text(FormatDuration(group.rate->per));
        if (group.rate->burst) {
            output.Key("burst");
            output.Int(*group.rate->burst);
        }
        output.EndObject();
    }
    output.EndObject();
}

Definitions ReadDefinitions(JsonReader& reader, const json::value& value) {
    Definitions definitions;
    ObjectReader object(reader, Node{value, ""});
    if (const auto jobs = object.Find("jobs")) {
        reader.ReadEach(
            *jobs, definitions.jobs,
            [&reader](const Node& node, model::JobDefinition& job) { ReadJob(reader, node, job); });
    }
    if (const auto calendars = object.Find("calendars")) {
        reader.ReadEach(*calendars, definitions.calendars,
                        [&reader](const Node& node, schedule::Calendar& calendar) {
                            ReadCalendar(reader, node, calendar);
                        });
    }
    if (const auto groups = object.Find("groups")) {
        reader.ReadEach(*groups, definitions.groups, [&reader](const Node& node, DefinedGroup& g) {
            ReadGroup(reader, node, g);
        });
    }
    object.Finish();
    return definitions;
}

template <class T, class F>
Result<T> FromJson(std::string_view text, const F& read) {
    return ReadDocument<T>(text, JsonForm::kDefinition, {}, read);
}

}  // namespace

Result<Definitions> DefinitionsFromJson(std::string_view text) {
    return FromJson<Definitions>(text, [](JsonReader& reader, const Node& node, Definitions& out) {
        out = ReadDefinitions(reader, node.value);
    });
}

Result<Definitions> DefinitionsFromToml(std::string_view text) {
    KSANA_TRY(const TomlDocument document, ParseToml(text));
    JsonReader reader;
    Definitions definitions = ReadDefinitions(reader, document.value);
    if (reader.Clean()) return definitions;
    std::vector<Problem> problems = reader.TakeProblems();
    for (Problem& problem : problems) {
        problem.message += fmt::format(" (line {})", document.line_of(problem.path));
    }
    return Error(std::move(problems));
}

std::string DefinitionsToJson(const Definitions& definitions) {
    JsonOutput output(JsonStyle::kPretty);
    output.BeginObject();
    output.Key("jobs");
    output.BeginArray();
    for (const model::JobDefinition& job : definitions.jobs) WriteJob(output, job);
    output.EndArray();
    output.Key("calendars");
    output.BeginArray();
    for (const schedule::Calendar& calendar : definitions.calendars) {
        WriteValue(output, CalendarValue(calendar));
    }
    output.EndArray();
    output.Key("groups");
    output.BeginArray();
    for (const DefinedGroup& group : definitions.groups) WriteGroup(output, group);
    output.EndArray();
    output.EndObject();
    return output.Take();
}

Result<model::JobDefinition> JobFromJson(std::string_view text) {
    return FromJson<model::JobDefinition>(text, ReadJob);
}

std::string JobToJson(const model::JobDefinition& job) {
    JsonOutput output;
    WriteJob(output, job);
    return output.Take();
}

Result<schedule::Calendar> CalendarFromJson(std::string_view text) {
    return FromJson<schedule::Calendar>(text, ReadCalendar);
}

std::string CalendarToJson(const schedule::Calendar& calendar) {
    return WriteJson(CalendarValue(calendar));
}

std::string GroupToJson(const DefinedGroup& group) {
    JsonOutput output;
    WriteGroup(output, group);
    return output.Take();
}

std::string CalendarRuleToJson(const schedule::CalendarRule& rule) {
    return WriteJson(CalendarRuleValue(rule));
}

std::string StringsToJson(const std::vector<std::string>& strings) {
    return WriteJson(json::array(strings.begin(), strings.end()), JsonStyle::kPretty);
}

std::string TextToJson(std::string_view text) {
    JsonOutput output;
    output.Text(text);
    return output.Take();
}

}  // namespace ksana::codec
