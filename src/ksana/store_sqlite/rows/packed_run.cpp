#include "ksana/store_sqlite/rows/packed_run.hpp"

#include "ksana/store_kit/driver/pack_reader.hpp"
#include "ksana/store_kit/driver/pack_writer.hpp"

namespace ksana::store_sqlite {
namespace {

using model::Run;
using store_kit::PackReader;
using store_kit::PackWriter;

// Format version, the first byte of each blob.
constexpr char kRunVersion = 2;

// `payload` is empty if the payload is in the table payloads.
template <class Io, class AnyRun, class Text, class Part>
void VisitFixed(Io& io, AnyRun& run, Text& payload, Part& part) {
    static const Run kPlain;
    io.Value(part.policy);
    io.Value(run.created_at);
    io.Field(run.unique.key, {});
    io.Field(run.unique.states, kPlain.unique.states);
    io.Field(run.unique.until, {});
    io.Field(run.selector, {});
    io.Field(run.tenant, kPlain.tenant);
    io.Field(run.category, {});
    io.Field(run.creator, {});
    io.Field(run.trigger, kPlain.trigger);
    io.Field(run.priority, kPlain.priority);
    io.Field(run.parent, {});
    io.Field(payload, {});
    io.Flag(part.payload_outside);
    io.Field(run.prefer, {});
    io.Field(run.prefer_for, {});
    io.Field(run.trace_parent, {});
}

template <class Io, class AnyRun>
void VisitStatus(Io& io, AnyRun& run) {
    auto& status = run.status;
    io.Value(status.state);
    io.Value(run.updated_at);
    const TimePoint base = run.updated_at;
    io.Field(status.failures, 0);
    io.Field(status.fence, 0);
    io.ExecId(status.exec_id);
    io.Field(status.last_report, {});
    io.Field(status.outcome, {});
    io.Near(status.lease_until, base);
    io.Near(status.deadline, base);
    io.Field(status.progress, 0);
    io.Field(status.progress_note, {});
    io.Flag(status.cancel_requested);
    io.Flag(status.not_stopping);
    io.Field(status.result, {});
    io.Field(status.detail, {});
    io.Field(status.remark, {});
    io.Field(status.skip_reason, model::SkipReason::kNone);
    io.Flag(status.blocked);
    io.Field(status.attempt, 0);
    io.Field(status.owner, {});
    io.Near(status.started_at, base);
    io.Near(status.ended_at, base);
    io.Near(status.finished_at, base);
    io.Field(status.last_error, {});
    io.Near(status.wait_until, base);
    io.Flag(status.watched);
}

Error Damaged() {
    return {Code::kDataLoss, "sqlite: a stored run is damaged, or made by another version"};
}

bool HasVersion(std::string_view blob) { return !blob.empty() && blob.front() == kRunVersion; }

}  // namespace

void PackFixed(const Run& run, std::int64_t policy, bool payload_outside, std::string& out) {
    static const std::string kNone;
    const FixedPart part{.policy = policy, .payload_outside = payload_outside};
    out.assign(1, kRunVersion);
    PackWriter writer(out, true);
    VisitFixed(writer, run, payload_outside ? kNone : run.payload, part);
}

Result<FixedPart> UnpackFixed(std::string_view blob, Run& run) {
    if (!HasVersion(blob)) return Damaged();
    FixedPart part;
    PackReader reader(blob.substr(1));
    VisitFixed(reader, run, run.payload, part);
    if (!reader.done()) return Damaged();
    return part;
}

void PackStatus(const Run& run, std::string& out) {
    out.assign(1, kRunVersion);
    PackWriter writer(out, true);
    VisitStatus(writer, run);
}

Result<void> UnpackStatus(std::string_view blob, Run& run) {
    if (!HasVersion(blob)) return Damaged();
    PackReader reader(blob.substr(1));
    VisitStatus(reader, run);
    if (!reader.done_but_padding()) return Damaged();
    return {};
}

}  // namespace ksana::store_sqlite
