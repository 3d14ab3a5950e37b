#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store_postgres/wire/names.hpp"

namespace ksana::store_postgres {

// A run to be written, with the number of its policy (for a new run), the ctid of its row (if this
// transaction has locked it), or the version of the row to replace.
struct RunRow {
    const model::Run* run;
    std::int32_t policy_id = 0;
    const RowPlace* place = nullptr;
    const RowVersion* version = nullptr;
};

// Groups of columns that are sent together. A statement leaves a group out when all runs of its
// batch have defaults there, and sends plain values when all runs have the same: the usual batch is
// two or three arrays. There are groups instead of single columns because every combination is
// another statement to plan.
enum class RunGroup : std::uint8_t {
    kId,
    kQueue,  // type, kind, policy_id
    kNew,    // trigger, created_at
    kOrigin,
    kJob,
    kPayload,
    kFixed,
    kState,  // the groups from here on hold the status
    kReady,
    kAttempt,
    kRare,
    kFinished,
    kStatus,
};
inline constexpr std::size_t kRunGroups = 13;

struct RunColumn {
    std::string_view name;
    std::string_view type;      // SQL type of the parameter, or of an element of it
    std::uint32_t oid;          // of `type`
    std::string_view fallback;  // SQL of the default; "NULL" where possible; empty: none
    RunGroup group;
    bool status;  // whether the column changes with the run's status
    void (*append)(std::string& out, const RunRow& row);  // appends it as an element (params.hpp)
};

// Returns the columns in the order in which ReadRun reads them. The last two, rank and expires_at,
// exist only in `runs` and are not read.
std::span<const RunColumn> RunColumns();
inline constexpr std::size_t kRunColumns = 29;
inline constexpr std::size_t kReadColumns = kRunColumns - 2;

// Returns the encoded element that a new run has in a column.
std::string_view DefaultElement(std::size_t column);

// Returns "r.id, r.job_id, …" of the columns that ReadRun reads.
std::string RunColumnList(std::string_view prefix);

// Returns "state IN (0, 1)". Constants instead of a parameter, so that the planner finds the
// partial indexes.
std::string StatesIn(model::RunStates states);

// Reads everything but the policy and returns the number of the policy. kDataLoss if a packed value
// is damaged.
Result<std::int32_t> ReadRun(RowReader& row, model::Run& run);

}  // namespace ksana::store_postgres
