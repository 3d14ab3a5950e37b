#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "ksana/base/error/result.hpp"
#include "ksana/model/record.hpp"

namespace ksana::codec {

// A row that is no more.
struct Drop {
    std::string table;  // "run"
    std::string id;
    std::string key;  // of a document, beside its kind
    friend bool operator==(const Drop&, const Drop&) = default;
};

// All lines since the last one of these were one transaction.
struct CommitMark {
    std::int64_t seq = 0;
    friend bool operator==(const CommitMark&, const CommitMark&) = default;
};

// One line of a log of changes: a row as it is now, or one of the above.
using LogLine = std::variant<model::Record, Drop, CommitMark>;

// Without its newline: a record's own line, {"drop":{…}} or {"commit":7}.
std::string DropToLine(const Drop& drop);
std::string CommitToLine(CommitMark mark);
Result<LogLine> LogLineFromText(std::string_view line);

// The beginning of a line that has a whole run or job, up to and with its id: the same for all
// lines of that row, and for no other. Empty where this cannot be said without reading the line.
std::string_view RowOfLine(std::string_view line);

}  // namespace ksana::codec
