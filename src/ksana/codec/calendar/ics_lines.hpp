#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ksana/schedule/zone/civil.hpp"

namespace ksana::codec {

// A content line of RFC 5545, 3.1: NAME;PARAM=VALUE;…:VALUE, unfolded.
struct IcsLine {
    std::size_t number = 0;  // its first line in the text, from 1
    std::string name;        // upper case
    std::vector<std::pair<std::string, std::string>> parameters;  // names in upper case
    std::string value;

    std::optional<std::string_view> Parameter(std::string_view parameter) const;
};

// Reads the content lines of a text one by one. The text must outlive it. For one thread.
class IcsReader {
  public:
    explicit IcsReader(std::string_view text) : rest_(text) {}

    // Returns nothing at the end. A malformed line has an empty name.
    std::optional<IcsLine> Next();

  private:
    std::string_view TakeLine();

    std::string_view rest_;
    std::size_t number_ = 0;
};

std::string UpperCase(std::string_view text);  // ASCII letters only

// An RRULE that only repeats the day of `start` every year.
struct IcsYearly {
    std::optional<schedule::Date> until;  // last day on which it begins; none: no end
    std::string fault;                    // not empty: the rule says something else
};
IcsYearly ReadYearlyRule(std::string_view rule, const schedule::Date& start);

// Reads eight digits.
std::optional<schedule::Date> ReadIcsDate(std::string_view text);

}  // namespace ksana::codec
