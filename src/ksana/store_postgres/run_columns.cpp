#include "ksana/store_postgres/run_columns.hpp"

#include <fmt/core.h>

#include <array>

#include "ksana/model/claim_order.hpp"
#include "ksana/model/decide.hpp"
#include "ksana/store_kit/rows.hpp"
#include "ksana/store_postgres/pair_texts.hpp"

namespace ksana::store_postgres {
namespace {

using model::Run;
using store_kit::kNoTime;

// The default of every column is what a new run has there.
const RunRow& DefaultRow() {
    static const Run run;
    static const RunRow row{&run, 0};
    return row;
}

template <auto kGet>
constexpr RunColumn Column(std::string_view name, std::string_view type, std::string_view fallback,
                           RunGroup group, bool status) {
    return {name,
            type,
            fallback,
            group,
            status,
            [](const RunRow& row) { return kGet(row) == kGet(DefaultRow()); },
            [](Params& params, const RunRows& rows) { params.Array(rows, kGet); }};
}

// A member of the run or of its status, as the table has it.
std::string_view Shown(const std::string& value) { return value; }
bool Shown(bool value) { return value; }
std::int32_t Shown(std::int32_t value) { return value; }
std::int64_t Shown(std::int64_t value) { return value; }
Uuid Shown(const Uuid& value) { return value; }
std::optional<Uuid> Shown(const std::optional<Uuid>& value) { return value; }
std::int64_t Shown(TimePoint value) { return Micros(value); }
std::optional<std::int64_t> Shown(const std::optional<TimePoint>& value) { return Micros(value); }
template <class E>
requires std::is_enum_v<E> std::int16_t Shown(E value) { return Small(value); }
template <class E>
requires std::is_enum_v<E> std::optional<std::int16_t> Shown(const std::optional<E>& value) {
    return Small(value);
}

template <auto kMember>
constexpr RunColumn Fixed(std::string_view name, std::string_view type, std::string_view fallback,
                          RunGroup group) {
    return Column<[](const RunRow& row) { return Shown(row.run->*kMember); }>(name, type, fallback,
                                                                              group, false);
}
template <auto kMember>
constexpr RunColumn Status(std::string_view name, std::string_view type, std::string_view fallback,
                           RunGroup group) {
    return Column<[](const RunRow& row) { return Shown(row.run->status.*kMember); }>(
        name, type, fallback, group, true);
}

std::string SelectorText(const RunRow& row) { return ArrayText(PairTexts(row.run->selector)); }
std::string_view UniqueKey(const RunRow& row) { return row.run->unique.key; }
std::int32_t UniqueStates(const RunRow& row) { return row.run->unique.states; }
std::optional<std::int64_t> UniqueUntil(const RunRow& row) { return Micros(row.run->unique.until); }
std::int32_t PolicyId(const RunRow& row) { return row.policy_id; }
std::int64_t FinishedAt(const RunRow& row) {
    return Micros(row.run->status.finished_at).value_or(kNoTime);
}
std::int64_t Rank(const RunRow& row) {
    return model::ClaimRank(row.run->status.ready_at, row.run->priority);
}
std::optional<std::int64_t> ExpiresAt(const RunRow& row) {
    return Micros(model::ExpiresAt(*row.run));
}

using S = model::RunStatus;
using G = RunGroup;

constexpr std::array kColumns = {
    Fixed<&Run::id>("id", "uuid", "", G::kAlways),
    Fixed<&Run::job_id>("job_id", "text", "''", G::kJob),
    Fixed<&Run::tenant>("tenant", "text", "'default'", G::kTenant),
    Fixed<&Run::type>("type", "text", "", G::kAlways),
    Fixed<&Run::category>("category", "text", "''", G::kLabels),
    Fixed<&Run::creator>("creator", "text", "''", G::kLabels),
    Fixed<&Run::kind>("kind", "smallint", "3", G::kKind),
    Fixed<&Run::trigger>("trigger", "smallint", "3", G::kJob),
    Fixed<&Run::priority>("priority", "integer", "5", G::kPriority),
    Fixed<&Run::nominal_at>("nominal_at", "bigint", "NULL", G::kJob),
    Fixed<&Run::payload>("payload", "text", "", G::kAlways),
    Column<SelectorText>("selector", "text", "'{}'", G::kSelector, false),
    Column<UniqueKey>("unique_key", "text", "''", G::kUnique, false),
    Column<UniqueStates>("unique_states", "integer", "31", G::kUnique, false),
    Column<UniqueUntil>("unique_until", "bigint", "NULL", G::kUnique, false),
    Fixed<&Run::parent>("parent", "uuid", "NULL", G::kParent),
    Column<PolicyId>("policy_id", "integer", "", G::kAlways, false),
    Fixed<&Run::created_at>("created_at", "bigint", "", G::kAlways),
    Column<[](const RunRow& row) { return Shown(row.run->updated_at); }>("updated_at", "bigint", "",
                                                                         G::kAlways, true),
    Status<&S::state>("state", "smallint", "", G::kAlways),
    Status<&S::ready_at>("ready_at", "bigint", "", G::kAlways),
    Status<&S::attempt>("attempt", "integer", "0", G::kAttempt),
    Status<&S::failures>("failures", "integer", "0", G::kFailure),
    Status<&S::fence>("fence", "bigint", "0", G::kAttempt),
    Status<&S::exec_id>("exec_id", "text", "''", G::kAttempt),
    Status<&S::last_report>("last_report", "smallint", "NULL", G::kEnd),
    Status<&S::outcome>("outcome", "smallint", "NULL", G::kEnd),
    Status<&S::owner>("owner", "text", "''", G::kAttempt),
    Status<&S::lease_until>("lease_until", "bigint", "NULL", G::kLease),
    Status<&S::deadline>("deadline", "bigint", "NULL", G::kLease),
    Status<&S::started_at>("started_at", "bigint", "NULL", G::kAttempt),
    Status<&S::ended_at>("ended_at", "bigint", "NULL", G::kEnd),
    Column<FinishedAt>("finished_at", "bigint", "9223372036854775807", G::kFinished, true),
    Status<&S::progress>("progress", "integer", "0", G::kProgress),
    Status<&S::progress_note>("progress_note", "text", "''", G::kRare),
    Status<&S::cancel_requested>("cancel_requested", "boolean", "false", G::kRare),
    Status<&S::not_stopping>("not_stopping", "boolean", "false", G::kRare),
    Status<&S::blocked>("blocked", "boolean", "false", G::kRare),
    Status<&S::result>("result", "text", "''", G::kResult),
    Status<&S::last_error>("last_error", "text", "''", G::kFailure),
    Status<&S::detail>("detail", "text", "''", G::kDetail),
    Status<&S::remark>("remark", "text", "''", G::kRare),
    Status<&S::skip_reason>("skip_reason", "smallint", "0", G::kRare),
    Column<Rank>("rank", "bigint", "", G::kAlways, true),
    Column<ExpiresAt>("expires_at", "bigint", "NULL", G::kLease, true),
};
static_assert(kColumns.size() == kReadColumns + 2);

}  // namespace

std::span<const RunColumn> RunColumns() { return kColumns; }

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

RunGroups GroupsIn(const RunRows& rows) {
    RunGroups groups = 1U;
    for (const RunColumn& column : kColumns) {
        if (Has(groups, column.group)) continue;
        for (const RunRow& row : rows) {
            if (column.is_default(row)) continue;
            groups |= 1U << static_cast<unsigned>(column.group);
            break;
        }
    }
    return groups;
}

namespace {

void ReadStatus(RowReader& row, model::RunStatus& status) {
    status.state = row.Enum<model::RunState>();
    status.ready_at = row.Time();
    status.attempt = row.Int32();
    status.failures = row.Int32();
    status.fence = row.Int64();
    status.exec_id = row.Text();
    status.last_report = row.MaybeEnum<model::EventKind>();
    status.outcome = row.MaybeEnum<model::AttemptOutcome>();
    status.owner = row.Text();
    status.lease_until = row.MaybeTime();
    status.deadline = row.MaybeTime();
    status.started_at = row.MaybeTime();
    status.ended_at = row.MaybeTime();
    status.finished_at = row.TimeOrNone();
    status.progress = row.Int32();
    status.progress_note = row.Text();
    status.cancel_requested = row.Bool();
    status.not_stopping = row.Bool();
    status.blocked = row.Bool();
    status.result = row.Text();
    status.last_error = row.Text();
    status.detail = row.Text();
    status.remark = row.Text();
    status.skip_reason = row.Enum<model::SkipReason>();
}

}  // namespace

std::int32_t ReadRun(RowReader& row, Run& run) {
    run.id = row.Id();
    run.job_id = row.Text();
    run.tenant = row.Text();
    run.type = row.Text();
    run.category = row.Text();
    run.creator = row.Text();
    run.kind = row.Enum<model::ActionKind>();
    run.trigger = row.Enum<model::RunTrigger>();
    run.priority = row.Int32();
    run.nominal_at = row.MaybeTime();
    run.payload = row.Text();
    run.selector = PairsOf(row.Texts());
    run.unique.key = row.Text();
    run.unique.states = static_cast<model::RunStates>(row.Int32());
    run.unique.until = row.MaybeTime();
    run.parent = row.MaybeId();
    const std::int32_t policy_id = row.Int32();
    run.created_at = row.Time();
    run.updated_at = row.Time();
    ReadStatus(row, run.status);
    return policy_id;
}

}  // namespace ksana::store_postgres
