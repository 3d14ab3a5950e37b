#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "ksana/base/error/result.hpp"
#include "ksana/model/record.hpp"

namespace ksana::codec {

// A deleted row.
struct Drop {
    std::string table;  // "run"
    std::string id;
    std::string key;  // of a document, besides its kind
    friend bool operator==(const Drop&, const Drop&) = default;
};

// Ends a transaction: all lines since the previous mark belong to it.
struct CommitMark {
    std::int64_t seq = 0;
    // CRC-32C of those lines with their newlines, and of `seq`; a log of an earlier version has
    // none.
    std::optional<std::uint32_t> sum;
    friend bool operator==(const CommitMark&, const CommitMark&) = default;
};

// One line of a log of changes: the current row, a deletion or a commit.
using LogLine = std::variant<model::Record, Drop, CommitMark>;

// Lines without their newline: that of a record, {"drop":{…}} or {"commit":7,"sum":4711}.
std::string DropToLine(const Drop& drop);
std::string CommitToLine(CommitMark mark);
Result<LogLine> LogLineFromText(std::string_view line);
// Returns whether the line can only be a mark; it need not be a valid one.
bool IsCommitLine(std::string_view line);

// Returns the beginning of a line that holds a whole run or job, up to and including its id. It is
// the same for all lines of that row and for no other. Empty if the line must be parsed to tell.
std::string_view RowOfLine(std::string_view line);

}  // namespace ksana::codec
