#include "ksana/store_postgres/packed_run.hpp"

#include "ksana/store_kit/pack_reader.hpp"
#include "ksana/store_kit/pack_writer.hpp"

namespace ksana::store_postgres {
namespace {

using model::Run;
using model::RunStatus;
using store_kit::PackReader;
using store_kit::PackWriter;

template <class Io, class AnyRun>
void VisitFixed(Io& io, AnyRun& run) {
    io.Field(run.priority, model::kDefaultPriority);
    io.Field(run.unique.states, model::kUnfinishedStates);
    io.Field(run.unique.until, {});
}

template <class Io, class AnyStatus>
void VisitStatus(Io& io, AnyStatus& status) {
    io.Field(status.failures, 0);
    io.Field(status.fence, 0);
    io.Field(status.exec_id, {});
    io.Field(status.last_report, {});
    io.Field(status.outcome, {});
    io.Field(status.lease_until, {});
    io.Field(status.deadline, {});
    io.Field(status.started_at, {});
    io.Field(status.ended_at, {});
    io.Field(status.progress, 0);
    io.Field(status.progress_note, {});
    io.Flag(status.cancel_requested);
    io.Flag(status.not_stopping);
    io.Field(status.result, {});
    io.Field(status.detail, {});
    io.Field(status.remark, {});
    io.Field(status.skip_reason, model::SkipReason::kNone);
}

Error Damaged() {
    return {Code::kDataLoss, "PostgreSQL: a stored run is damaged, or made by a newer program"};
}

}  // namespace

void PackFixed(const Run& run, std::string& out) {
    PackWriter writer(out);
    VisitFixed(writer, run);
}

Result<void> UnpackFixed(std::string_view packed, Run& run) {
    PackReader reader(packed);
    VisitFixed(reader, run);
    if (!reader.done()) return Damaged();
    return {};
}

void PackStatus(const RunStatus& status, std::string& out) {
    PackWriter writer(out);
    VisitStatus(writer, status);
}

Result<void> UnpackStatus(std::string_view packed, RunStatus& status) {
    PackReader reader(packed);
    VisitStatus(reader, status);
    if (!reader.done()) return Damaged();
    return {};
}

}  // namespace ksana::store_postgres
