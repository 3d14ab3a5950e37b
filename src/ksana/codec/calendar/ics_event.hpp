#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/codec/calendar/ics_lines.hpp"
#include "ksana/schedule/calendar/calendar.hpp"

namespace ksana::codec {

// What a VEVENT says about when it is.
class IcsEvent {
  public:
    explicit IcsEvent(std::size_t line) : line_(line) {}

    // A line of the event itself, not of what is inside it.
    void Read(const IcsLine& line);

    std::size_t line() const { return line_; }

    // Rules that say the same, or why there are none.
    struct Answer {
        std::vector<schedule::CalendarRule> rules;
        std::string fault;
    };
    Answer Rules(const schedule::Date& today) const;

  private:
    // A DATE or a DATE-TIME.
    struct When {
        schedule::Date date;
        std::optional<int> second;  // of the day; none: a DATE
        bool zoned = false;
        bool readable = false;
    };
    static When ReadWhen(const IcsLine& line);

    std::optional<std::string> Refusal() const;
    Answer Days(const schedule::Date& today) const;
    Answer Window() const;
    // By DTEND or DURATION: in days, in seconds. None: neither, or it cannot be read.
    std::optional<std::int64_t> DayCount() const;
    std::optional<std::int64_t> SecondCount() const;

    std::size_t line_;
    std::optional<When> start_;
    std::optional<When> end_;
    std::optional<std::string> duration_;
    std::optional<std::string> rule_;
    std::string unknown_;  // a property that changes when it is, and that no rule can say
    bool cancelled_ = false;
};

}  // namespace ksana::codec
