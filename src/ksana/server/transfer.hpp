#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/records/export_line.hpp"
#include "ksana/store/store.hpp"

namespace ksana::server {

// Takes one line, including its newline.
using LineSink = std::function<Result<void>(std::string_view line)>;
// Sets `line` to the next line, without its newline. Returns false at the end.
using LineSource = std::function<Result<bool>(std::string& line)>;
// Called from time to time with the number of records so far. May be empty.
using TransferProgress = std::function<void(std::int64_t records)>;

// Writes everything in a store as lines (codec/records/export_line.hpp), a page at a time. Each
// page is a read of its own, so concurrent changes may appear in part; for a consistent export,
// stop the writers first.
Result<codec::ExportCounts> ExportRecords(store::Store& from, const codec::ExportHeader& header,
                                          const LineSink& sink, const TransferProgress& progress);

struct Imported {
    codec::ExportHeader header;
    codec::ExportCounts counts;
};

// Reads an export to its end and stores nothing. Checks each line, and that a last line has the
// right counts. The error names the line.
Result<Imported> CheckExport(const LineSource& source, const TransferProgress& progress);

// Fails with kConflict if the store holds any record.
Result<void> CheckEmpty(store::Store& store);

// Checks like CheckExport and stores the records, in batches of one transaction each. Fails with
// kConflict if the store is not empty, and with kDataLoss if the store's counts differ from the
// export's at the end. After a failure the earlier batches stay stored; the error says how many
// records they hold.
Result<Imported> ImportRecords(store::Store& into, const LineSource& source,
                               const TransferProgress& progress);

}  // namespace ksana::server
