#include "ksana/store_postgres/rows/run_columns.hpp"

#include <fmt/core.h>

#include <array>

#include "ksana/model/run/claim_order.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/store_kit/driver/rows.hpp"
#include "ksana/store_postgres/rows/packed_run.hpp"

namespace ksana::store_postgres {
namespace {

using model::Run;
using store_kit::kNoTime;

struct SqlType {
    std::string_view name;
    std::uint32_t oid;
};
constexpr SqlType kBool{"boolean", kBoolOid};
constexpr SqlType kBytea{"bytea", kByteaOid};
constexpr SqlType kBigint{"bigint", kInt8Oid};
constexpr SqlType kSmallint{"smallint", kInt2Oid};
constexpr SqlType kInteger{"integer", kInt4Oid};
constexpr SqlType kText{"text", kTextOid};
constexpr SqlType kUuid{"uuid", kUuidOid};

// Convert a member of the run or of its status to its stored form.
std::string_view Shown(const std::string& value) { return value; }
bool Shown(bool value) { return value; }
std::int32_t Shown(std::int32_t value) { return value; }
const Uuid& Shown(const Uuid& value) { return value; }
const std::optional<Uuid>& Shown(const std::optional<Uuid>& value) { return value; }
std::int64_t Shown(TimePoint value) { return Micros(value); }
std::optional<std::int64_t> Shown(const std::optional<TimePoint>& value) { return Micros(value); }
template <class E>
requires std::is_enum_v<E> std::int16_t Shown(E value) { return Small(value); }

template <auto kMember>
void AppendFixed(std::string& out, const RunRow& row) {
    AppendElement(out, Shown(row.run->*kMember));
}
template <auto kMember>
void AppendStatus(std::string& out, const RunRow& row) {
    AppendElement(out, Shown(row.run->status.*kMember));
}

void AppendLabels(std::string& out, const TextMap& labels) {
    if (labels.empty()) {
        AppendElement(out, std::optional<bool>());
    } else {
        AppendElement(out, ArrayText(PairTexts(labels)));
    }
}
void AppendSelector(std::string& out, const RunRow& row) { AppendLabels(out, row.run->selector); }
void AppendPrefer(std::string& out, const RunRow& row) { AppendLabels(out, row.run->prefer); }
void AppendPreferFor(std::string& out, const RunRow& row) {
    std::optional<std::int64_t> micros;
    if (row.run->prefer_for > Duration::zero()) micros = row.run->prefer_for.count();
    AppendElement(out, micros);
}
void AppendUniqueKey(std::string& out, const RunRow& row) {
    AppendElement(out, std::string_view(row.run->unique.key));
}
void AppendPolicyId(std::string& out, const RunRow& row) { AppendElement(out, row.policy_id); }
void AppendFinishedAt(std::string& out, const RunRow& row) {
    AppendElement(out, Micros(row.run->status.finished_at).value_or(kNoTime));
}
void AppendRank(std::string& out, const RunRow& row) {
    AppendElement(out, model::ClaimRank(row.run->status.ready_at, row.run->priority));
}
void AppendExpiresAt(std::string& out, const RunRow& row) {
    const auto expires = model::ExpiresAt(*row.run);
    AppendElement(out, Micros(expires ? expires : model::LooksAgainAt(*row.run)));
}
void AppendPackedFixed(std::string& out, const RunRow& row) {
    const std::size_t start = out.size();
    AppendBinary(out, std::int32_t{0});
    PackFixed(*row.run, out);
    SetLength(out, start);
}
void AppendPackedStatus(std::string& out, const RunRow& row) {
    const std::size_t start = out.size();
    AppendBinary(out, std::int32_t{0});
    PackStatus(row.run->status, out);
    SetLength(out, start);
}

using S = model::RunStatus;
using G = RunGroup;

constexpr RunColumn Fixed(std::string_view name, SqlType type, std::string_view fallback, G group,
                          void (*append)(std::string&, const RunRow&)) {
    return {name, type.name, type.oid, fallback, group, false, append};
}
constexpr RunColumn Status(std::string_view name, SqlType type, std::string_view fallback, G group,
                           void (*append)(std::string&, const RunRow&)) {
    return {name, type.name, type.oid, fallback, group, true, append};
}

constexpr std::array kColumns = {
    Fixed("id", kUuid, "", G::kId, AppendFixed<&Run::id>),
    Fixed("policy_id", kInteger, "", G::kQueue, AppendPolicyId),
    Fixed("kind", kSmallint, "3", G::kQueue, AppendFixed<&Run::kind>),
    Fixed("trigger", kSmallint, "3", G::kNew, AppendFixed<&Run::trigger>),
    Fixed("created_at", kBigint, "", G::kNew, AppendFixed<&Run::created_at>),
    Status("state", kSmallint, "", G::kState, AppendStatus<&S::state>),
    Status("blocked", kBool, "false", G::kRare, AppendStatus<&S::blocked>),
    Status("attempt", kInteger, "0", G::kAttempt, AppendStatus<&S::attempt>),
    Status("updated_at", kBigint, "", G::kState, AppendFixed<&Run::updated_at>),
    Status("ready_at", kBigint, "", G::kReady, AppendStatus<&S::ready_at>),
    Status("finished_at", kBigint, "NULL", G::kFinished, AppendFinishedAt),
    Fixed("type", kText, "", G::kQueue, AppendFixed<&Run::type>),
    Fixed("tenant", kText, "'default'", G::kOrigin, AppendFixed<&Run::tenant>),
    Fixed("category", kText, "NULL", G::kOrigin, AppendFixed<&Run::category>),
    Fixed("creator", kText, "NULL", G::kOrigin, AppendFixed<&Run::creator>),
    Fixed("job_id", kText, "NULL", G::kJob, AppendFixed<&Run::job_id>),
    Fixed("nominal_at", kBigint, "NULL", G::kJob, AppendFixed<&Run::nominal_at>),
    Fixed("parent", kUuid, "NULL", G::kFixed, AppendFixed<&Run::parent>),
    Fixed("selector", kText, "NULL", G::kFixed, AppendSelector),
    Fixed("prefer", kText, "NULL", G::kFixed, AppendPrefer),
    Fixed("prefer_for", kBigint, "NULL", G::kFixed, AppendPreferFor),
    Fixed("unique_key", kText, "NULL", G::kFixed, AppendUniqueKey),
    Fixed("fixed", kBytea, "NULL", G::kFixed, AppendPackedFixed),
    Status("owner", kText, "NULL", G::kAttempt, AppendStatus<&S::owner>),
    Status("last_error", kText, "NULL", G::kRare, AppendStatus<&S::last_error>),
    Status("status", kBytea, "NULL", G::kStatus, AppendPackedStatus),
    Fixed("payload", kText, "NULL", G::kPayload, AppendFixed<&Run::payload>),
    Status("rank", kBigint, "", G::kReady, AppendRank),
    Status("expires_at", kBigint, "NULL", G::kAttempt, AppendExpiresAt),
};
static_assert(kColumns.size() == kRunColumns);

using Defaults = std::array<std::string, kRunColumns>;

Defaults MakeDefaults() {
    const Run run;
    Defaults elements;
    for (std::size_t i = 0; i < kRunColumns; ++i) kColumns[i].append(elements[i], {&run, 0});
    return elements;
}

}  // namespace

std::span<const RunColumn> RunColumns() { return kColumns; }

std::string_view DefaultElement(std::size_t column) {
    static const Defaults kElements = MakeDefaults();
    return kElements[column];
}

std::string RunColumnList(std::string_view prefix) {
    std::string list;
    for (const RunColumn& column : std::span(kColumns).first(kReadColumns)) {
        list += fmt::format("{}{}{}", list.empty() ? "" : ", ", prefix, column.name);
    }
    return list;
}

std::string StatesIn(model::RunStates states) {
    std::string list;
    for (unsigned state = 0; state < model::kEnumCount<model::RunState>; ++state) {
        if (((states >> state) & 1U) == 0) continue;
        list += fmt::format("{}{}", list.empty() ? "" : ", ", state);
    }
    return fmt::format("state IN ({})", list);
}

Result<std::int32_t> ReadRun(RowReader& row, Run& run) {
    model::RunStatus& status = run.status;
    run.id = row.Id();
    const std::int32_t policy_id = row.Int32();
    run.kind = row.Enum<model::ActionKind>();
    run.trigger = row.Enum<model::RunTrigger>();
    run.created_at = row.Time();
    status.state = row.Enum<model::RunState>();
    status.blocked = row.Bool();
    status.attempt = row.Int32();
    run.updated_at = row.Time();
    status.ready_at = row.Time();
    status.finished_at = row.TimeOrNone(kNoTime);
    run.type = row.Text();
    run.tenant = row.Text();
    run.category = row.Text();
    run.creator = row.Text();
    run.job_id = row.Text();
    run.nominal_at = row.MaybeTime();
    run.parent = row.MaybeId();
    if (!row.SkipNull()) run.selector = PairsOf(row.Texts());
    if (!row.SkipNull()) run.prefer = PairsOf(row.Texts());
    if (!row.SkipNull()) run.prefer_for = Duration(row.Int64());
    run.unique.key = row.Text();
    KSANA_TRY_VOID(UnpackFixed(row.Bytes(), run));
    status.owner = row.Text();
    status.last_error = row.Text();
    KSANA_TRY_VOID(UnpackStatus(row.Bytes(), status));
    run.payload = row.Text();
    return policy_id;
}

}  // namespace ksana::store_postgres
