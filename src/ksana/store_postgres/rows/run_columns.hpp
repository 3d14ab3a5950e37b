#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store_postgres/wire/params.hpp"
#include "ksana/store_postgres/wire/rows.hpp"

namespace ksana::store_postgres {

// A run on its way into the store, with the number of its policy there, or with the place of its
// row, where this transaction has locked it, or with the version of it that is to be replaced.
struct RunRow {
    const model::Run* run;
    std::int32_t policy_id = 0;
    const RowPlace* place = nullptr;
    const RowVersion* version = nullptr;
};

// Columns that go together. A statement leaves a group out when no run of its batch has anything
// but defaults there, and sends it as plain values when all runs have the same: so the usual batch
// is two or three arrays. Groups, because every choice makes another statement to be planned.
enum class RunGroup : std::uint8_t {
    kId,
    kQueue,  // type, kind, policy_id
    kNew,    // trigger, created_at
    kOrigin,
    kJob,
    kPayload,
    kFixed,
    kState,  // from here on: the status
    kReady,
    kAttempt,
    kRare,
    kFinished,
    kStatus,
};
inline constexpr std::size_t kRunGroups = 13;

struct RunColumn {
    std::string_view name;
    std::string_view type;      // of the parameter, or of an element of it
    std::uint32_t oid;          // of that type
    std::string_view fallback;  // SQL of the default; NULL where it can be
    RunGroup group;
    bool status;                                          // changes with the run's status
    void (*append)(std::string& out, const RunRow& row);  // as an element (params.hpp)
};

// In the order in which ReadRun takes them; rank and expires_at follow, which only `runs` has.
std::span<const RunColumn> RunColumns();
inline constexpr std::size_t kRunColumns = 27;
inline constexpr std::size_t kReadColumns = kRunColumns - 2;

// What a new run has in a column, as an element.
std::string_view DefaultElement(std::size_t column);

// "r.id, r.job_id, …" of what ReadRun takes.
std::string RunColumnList(std::string_view prefix);

// "state IN (0, 1)", as constants and not as a parameter: so the partial indexes are found.
std::string StatesIn(model::RunStates states);

// Everything but the policy, of which the number is returned.
Result<std::int32_t> ReadRun(RowReader& row, model::Run& run);

}  // namespace ksana::store_postgres
