#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/model/run.hpp"
#include "ksana/store_postgres/params.hpp"
#include "ksana/store_postgres/rows.hpp"

namespace ksana::store_postgres {

// A run on its way into the store, with the number of its policy there.
struct RunRow {
    const model::Run* run;
    std::int32_t policy_id = 0;
};
using RunRows = std::vector<RunRow>;

// Columns that go together: a statement leaves a group out when no run of its batch has anything
// but defaults there. Fewer arrays to take apart make a small statement of the usual one.
enum class RunGroup : std::uint8_t {
    kAlways,
    kTenant,
    kLabels,  // category and creator
    kJob,     // job_id, trigger, nominal_at
    kKind,
    kPriority,
    kSelector,
    kUnique,
    kParent,
    kAttempt,  // from here on: the status
    kLease,
    kEnd,
    kFinished,
    kProgress,
    kResult,
    kDetail,
    kFailure,
    kRare,
};

struct RunColumn {
    std::string_view name;
    std::string_view type;      // of an element of the parameter
    std::string_view fallback;  // SQL of the default
    RunGroup group;
    bool status;  // changes with the run's status
    bool (*is_default)(const RunRow& row);
    void (*add)(Params& params, const RunRows& rows);
};

// In the order in which ReadRun takes them; rank and expires_at follow, which only `runs` has.
std::span<const RunColumn> RunColumns();
inline constexpr std::size_t kReadColumns = 43;

// "r.id, r.job_id, …" of what ReadRun takes.
std::string RunColumnList(std::string_view prefix);

// "state IN (0, 1)", as constants and not as a parameter: so the partial indexes are found.
std::string StatesIn(model::RunStates states);

// Everything but the policy, of which the number is returned.
std::int32_t ReadRun(RowReader& row, model::Run& run);

// A set of groups: bit n is RunGroup n.
using RunGroups = std::uint32_t;
RunGroups GroupsIn(const RunRows& rows);
constexpr bool Has(RunGroups groups, RunGroup group) {
    return ((groups >> static_cast<unsigned>(group)) & 1U) != 0;
}

}  // namespace ksana::store_postgres
