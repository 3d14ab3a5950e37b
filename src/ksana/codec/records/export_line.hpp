#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/record.hpp"

namespace ksana::codec {

inline constexpr std::int32_t kExportVersion = 1;

// The first line of an export.
struct ExportHeader {
    std::int32_t version = kExportVersion;
    TimePoint at{};
    std::string store;  // source, without secrets
    friend bool operator==(const ExportHeader&, const ExportHeader&) = default;
};

// The last line: counts of the lines between it and the header. An export without it is truncated.
struct ExportCounts {
    std::int64_t jobs = 0;
    std::int64_t runs = 0;
    std::int64_t attempts = 0;
    std::int64_t ledger = 0;
    std::int64_t events = 0;
    std::int64_t documents = 0;

    void Count(const model::Record& record);
    std::int64_t Total() const { return jobs + runs + attempts + ledger + events + documents; }
    friend bool operator==(const ExportCounts&, const ExportCounts&) = default;
};

// What the last line says.
struct ExportEnd {
    ExportCounts counts;
    // CRC-32C of the records, with their newlines, as 8 hex digits; "": not told. The header is not
    // in it, so that it is the same for every export of the same records.
    std::string sum;
};

// Any line after the header.
using ExportLine = std::variant<model::Record, ExportEnd>;

// Lines without their newline: {"ksana_export":1,"at":"…","store":"…"} and
// {"end":{"jobs":0,…},"sum":"00c0ffee"}.
// Between them are lines of record_codec.hpp.
std::string ExportHeaderToLine(const ExportHeader& header);
std::string ExportEndToLine(const ExportEnd& end);

Result<ExportHeader> ExportHeaderFromLine(std::string_view line);
// Every fault has its JSON Pointer.
Result<ExportLine> ExportLineFromText(std::string_view line);

}  // namespace ksana::codec
