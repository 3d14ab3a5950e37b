#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/codec/calendar/ics_lines.hpp"
#include "ksana/schedule/calendar/calendar.hpp"

namespace ksana::codec {

// The dates and times of one VEVENT. RulesFromIcs creates one for each event; for one thread.
class IcsEvent {
  public:
    explicit IcsEvent(std::size_t line) : line_(line) {}

    // Reads a line of the event itself, not of a component inside it.
    void Read(const IcsLine& line);

    std::size_t line() const { return line_; }

    // Equivalent rules, or the reason why there are none.
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
    // Length by DTEND or DURATION; a day without either. None: it cannot be read, or a time of day
    // has neither.
    std::optional<std::int64_t> DayCount() const;
    std::optional<std::int64_t> SecondCount() const;

    std::size_t line_;
    std::optional<When> start_;
    std::optional<When> end_;
    std::optional<std::string> duration_;
    std::optional<std::string> rule_;
    std::string unknown_;  // a property that changes the dates and that rules cannot express
    bool cancelled_ = false;
};

}  // namespace ksana::codec
