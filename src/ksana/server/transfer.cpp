#include "ksana/server/transfer.hpp"

#include <fmt/core.h>

#include "ksana/base/text/crc32c.hpp"
#include "ksana/codec/records/record_codec.hpp"

namespace ksana::server {
namespace {

using codec::ExportCounts;
using codec::ExportHeader;

// A record holds a payload and a result of up to a megabyte each, hence these bounds.
constexpr std::size_t kPage = 100;
constexpr std::size_t kBatchRecords = 500;
constexpr std::size_t kBatchBytes = 8 << 20;

ExportCounts CountsOf(const store::RecordCounts& counts) {
    return {counts.jobs,   counts.runs,   counts.attempts,
            counts.ledger, counts.events, counts.documents};
}

std::string CountsText(const ExportCounts& counts) {
    return fmt::format("{} jobs, {} runs, {} attempts, {} ledger, {} events, {} documents",
                       counts.jobs, counts.runs, counts.attempts, counts.ledger, counts.events,
                       counts.documents);
}

std::string SumText(std::uint32_t sum) { return fmt::format("{:08x}", sum); }

Error WrongExport(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

// Reads and checks an export line by line; with a store, also stores the records. Used once, by one
// thread.
class Importer {
  public:
    Importer(store::Store* into, const LineSource& source, const TransferProgress& progress)
        : into_(into), source_(source), progress_(progress) {}

    Result<Imported> Run() {
        auto done = Lines();
        if (done && into_ != nullptr) done = Compare();
        if (done) return Imported{std::move(header_), counts_};
        if (stored_ == 0) return std::move(done).error();
        Error error = std::move(done).error();
        error.message += fmt::format(
            "\n{} records were stored before that: empty the store before the next import",
            stored_);
        return error;
    }

  private:
    Result<void> Lines() {
        std::string line;
        KSANA_TRY(bool more, Next(line));
        auto header = codec::ExportHeaderFromLine(more ? line : "");
        if (!header) return AtLine(std::move(header).error());
        header_ = std::move(header).value();
        for (;;) {
            KSANA_TRY(more, Next(line));
            if (!more) return WrongExport(fmt::format("{}; the export is cut off", EndMissing()));
            auto parsed = codec::ExportLineFromText(line);
            if (!parsed) return AtLine(std::move(parsed).error());
            if (const auto* said = std::get_if<codec::ExportEnd>(&*parsed)) return End(*said);
            sum_ = Crc32c("\n", Crc32c(line, sum_));
            KSANA_TRY_VOID(Take(std::get<model::Record>(std::move(*parsed)), line.size()));
        }
    }

    Result<bool> Next(std::string& line) {
        ++number_;
        auto more = source_(line);
        if (!more) return AtLine(std::move(more).error());
        return more;
    }

    Error AtLine(Error error) const {
        return std::move(error).WithContext(fmt::format("line {}", number_));
    }
    std::string EndMissing() const {
        return fmt::format("there is no line {{\"end\":…}} after {} records", counts_.Total());
    }

    Result<void> End(const codec::ExportEnd& said) {
        if (said.counts != counts_) {
            return AtLine(WrongExport(fmt::format("the export says {}, but it holds {}",
                                                  CountsText(said.counts), CountsText(counts_))));
        }
        if (!said.sum.empty() && said.sum != SumText(sum_)) {
            return AtLine(WrongExport(
                fmt::format("the export was changed or damaged: its checksum is {}, and it says {}",
                            SumText(sum_), said.sum)));
        }
        std::string line;
        KSANA_TRY(const bool more, Next(line));
        if (more) return AtLine(WrongExport("nothing may follow the line {\"end\":…}"));
        return Flush();
    }

    Result<void> Take(model::Record record, std::size_t bytes) {
        counts_.Count(record);
        if (progress_) progress_(counts_.Total());
        if (into_ == nullptr) return {};
        batch_.push_back(std::move(record));
        batch_bytes_ += bytes;
        if (batch_.size() < kBatchRecords && batch_bytes_ < kBatchBytes) return {};
        return Flush();
    }

    Result<void> Flush() {
        if (batch_.empty()) return {};
        auto added = into_->records().Add(batch_);
        if (!added) {
            // There is one record per line, from line 2 on.
            return std::move(added).error().WithContext(
                fmt::format("lines {} to {}", stored_ + 2,
                            stored_ + 1 + static_cast<std::int64_t>(batch_.size())));
        }
        stored_ += static_cast<std::int64_t>(batch_.size());
        batch_.clear();
        batch_bytes_ = 0;
        return {};
    }

    Result<void> Compare() {
        KSANA_TRY(const store::RecordCounts there, into_->records().Counts());
        if (CountsOf(there) == counts_) return {};
        return Error(Code::kDataLoss,
                     fmt::format("the export holds {}, but the store now has {}",
                                 CountsText(counts_), CountsText(CountsOf(there))));
    }

    store::Store* into_;  // null: only check
    const LineSource& source_;
    const TransferProgress& progress_;
    ExportHeader header_;
    ExportCounts counts_;
    std::uint32_t sum_ = 0;    // of the records so far
    std::int64_t number_ = 0;  // of the current line, from 1
    std::int64_t stored_ = 0;
    std::vector<model::Record> batch_;
    std::size_t batch_bytes_ = 0;
};

}  // namespace

Result<ExportCounts> ExportRecords(store::Store& from, const ExportHeader& header,
                                   const LineSink& sink, const TransferProgress& progress) {
    std::uint32_t sum = 0;
    const auto put = [&](std::string line) {
        line += '\n';
        sum = Crc32c(line, sum);
        return sink(line);
    };
    KSANA_TRY_VOID(sink(codec::ExportHeaderToLine(header) + "\n"));
    ExportCounts counts;
    std::string cursor;
    do {
        KSANA_TRY(const auto page, from.records().Read(cursor, kPage));
        for (const model::Record& record : page.items) {
            KSANA_TRY_VOID(put(codec::RecordToLine(record)));
            counts.Count(record);
        }
        if (progress) progress(counts.Total());
        cursor = page.next;
    } while (!cursor.empty());
    KSANA_TRY_VOID(sink(codec::ExportEndToLine({counts, SumText(sum)}) + "\n"));
    return counts;
}

Result<Imported> CheckExport(const LineSource& source, const TransferProgress& progress) {
    return Importer(nullptr, source, progress).Run();
}

Result<void> CheckEmpty(store::Store& store) {
    KSANA_TRY(const store::RecordCounts there, store.records().Counts());
    if (there == store::RecordCounts{}) return {};
    return Error(Code::kConflict,
                 fmt::format("the store is not empty: it has {}", CountsText(CountsOf(there))));
}

Result<Imported> ImportRecords(store::Store& into, const LineSource& source,
                               const TransferProgress& progress) {
    KSANA_TRY_VOID(CheckEmpty(into));
    return Importer(&into, source, progress).Run();
}

}  // namespace ksana::server
