#include "ksana/codec/calendar/calendar_view.hpp"

#include <fmt/core.h>

#include <boost/json/object.hpp>

#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/calendar/calendar_codec.hpp"
#include "ksana/codec/json/json_parse.hpp"
#include "ksana/codec/json/json_reader.hpp"

namespace ksana::codec {

namespace json = boost::json;
using schedule::Calendar;

namespace {

// Removes the members that the server keeps, and adds the name of the path if there is none.
json::value Definition(const json::value& value, std::string_view name) {
    json::value definition = value;
    json::object* const object = definition.if_object();
    if (object == nullptr) return definition;
    object->erase("version");
    object->erase("updated_at");
    if (!object->contains("name")) object->emplace("name", json::string(name));
    return definition;
}

void ReadImport(JsonReader& reader, const Node& node, CalendarImport& import) {
    ObjectReader object(reader, node);
    object.Required("format", import.format);
    object.Required("text", import.text);
    object.Optional("list", import.list);
    object.Optional("mode", import.mode);
    object.Optional("dry_run", import.dry_run);
    object.Finish();
}

void ReadQuestion(JsonReader& reader, const Node& node, CalendarQuestion& question) {
    ObjectReader object(reader, node);
    if (const auto calendar = object.FindRequired("calendar")) {
        const json::value definition = Definition(calendar->value, "");
        ReadCalendar(reader, Node{definition, calendar->path}, question.calendar);
    }
    object.Optional("from", question.from);
    object.Optional("days", question.days);
    if (question.days < 1 || question.days > kMaxQuestionDays) {
        reader.Fault("/days", fmt::format("must be 1 to {}", kMaxQuestionDays), "out_of_range");
    }
    object.Optional("jobs", question.jobs);
    if (question.jobs.size() > kMaxQuestionJobs) {
        reader.Fault("/jobs", fmt::format("has more than {} members", kMaxQuestionJobs),
                     "out_of_range");
    }
    object.Finish();
}

}  // namespace

std::string CalendarViewToJson(const Calendar& calendar, const CalendarVersion& version) {
    json::value value = CalendarValue(calendar);
    value.as_object().emplace("version", version.version);
    value.as_object().emplace("updated_at", FormatTime(version.updated_at));
    return WriteJson(value);
}

Result<Calendar> CalendarFromView(std::string_view text, const std::string& name) {
    KSANA_TRY(const json::value value, ParseJson(text));
    JsonReader reader;
    Calendar calendar;
    const json::value definition = Definition(value, name);
    ReadCalendar(reader, Node{definition, ""}, calendar);
    if (reader.Clean() && calendar.name != name) {
        reader.Fault("/name", "is not that of the path", "immutable");
    }
    if (!reader.Clean()) return reader.TakeError();
    return calendar;
}

Result<CalendarImport> CalendarImportFromJson(std::string_view text) {
    return ReadDocument<CalendarImport>(text, JsonForm::kDefinition, {}, ReadImport);
}

Result<CalendarQuestion> CalendarQuestionFromJson(std::string_view text) {
    return ReadDocument<CalendarQuestion>(text, JsonForm::kDefinition, {}, ReadQuestion);
}

}  // namespace ksana::codec
