#pragma once

#include <boost/json/value.hpp>

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/schedule/calendar/calendar.hpp"

namespace ksana::codec {

// {"name": "cn", "exclude": [{"dates": "2026-10-01/2026-10-07"}, {"weekdays": ["SAT", "SUN"]},
//  {"yearly": "12-25"}, {"from": "22:00", "to": "06:00"}], "include": […],
//  "swaps": [{"date": "2026-10-10", "counts_as": "WED"}]}
void ReadCalendar(JsonReader& reader, const Node& node, schedule::Calendar& calendar);
boost::json::value CalendarRuleValue(const schedule::CalendarRule& rule);
boost::json::value CalendarValue(const schedule::Calendar& calendar);

}  // namespace ksana::codec
