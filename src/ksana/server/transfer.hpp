#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/records/export_line.hpp"
#include "ksana/store/store.hpp"

namespace ksana::server {

// Takes one line, its newline included.
using LineSink = std::function<Result<void>(std::string_view line)>;
// Gives the next line, without its newline; false at the end.
using LineSource = std::function<Result<bool>(std::string& line)>;
// Told now and then how many records have passed. May be empty.
using TransferProgress = std::function<void(std::int64_t records)>;

// Everything a store holds, as lines (codec/records/export_line.hpp), a page at a time. Pages are
// read one after the other: what changes meanwhile may be seen in part, so whoever wants one state
// of a store stops its writers.
Result<codec::ExportCounts> ExportRecords(store::Store& from, const codec::ExportHeader& header,
                                          const LineSink& sink, const TransferProgress& progress);

struct Imported {
    codec::ExportHeader header;
    codec::ExportCounts counts;
};

// Reads an export to its end and stores nothing: each line, the counts at the end, and that there
// is one. The error names the line.
Result<Imported> CheckExport(const LineSource& source, const TransferProgress& progress);

// kConflict when there is anything in it.
Result<void> CheckEmpty(store::Store& store);

// The same as CheckExport, and stores what it reads, in batches with a transaction each. The store
// must be empty, and must hold at the end what the export says. After a failure the batches before
// it are there; the error says how many records these are.
Result<Imported> ImportRecords(store::Store& into, const LineSource& source,
                               const TransferProgress& progress);

}  // namespace ksana::server
