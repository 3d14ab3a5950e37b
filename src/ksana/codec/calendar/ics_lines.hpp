#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ksana/schedule/zone/civil.hpp"

namespace ksana::codec {

// A content line of RFC 5545, 3.1: NAME;PARAM=VALUE;…:VALUE, with folded lines put together.
struct IcsLine {
    std::size_t number = 0;  // of its first line in the text, from 1
    std::string name;        // in capitals
    std::vector<std::pair<std::string, std::string>> parameters;  // names in capitals
    std::string value;

    std::optional<std::string_view> Parameter(std::string_view parameter) const;
};

// Reads one after the other. The text must outlive it.
class IcsReader {
  public:
    explicit IcsReader(std::string_view text) : rest_(text) {}

    // Nothing at the end. A line that is none has an empty name.
    std::optional<IcsLine> Next();

  private:
    std::string_view TakeLine();

    std::string_view rest_;
    std::size_t number_ = 0;
};

std::string UpperCase(std::string_view text);  // of ASCII letters

// An RRULE that only repeats the day of `start` every year.
struct IcsYearly {
    std::optional<schedule::Date> until;  // the last day on which it begins
    std::string fault;                    // not empty: it is another one
};
IcsYearly ReadYearlyRule(std::string_view rule, const schedule::Date& start);

// Eight digits.
std::optional<schedule::Date> ReadIcsDate(std::string_view text);

}  // namespace ksana::codec
