#pragma once

#include <cstdint>
#include <string_view>

#include "ksana/store/job_query.hpp"
#include "ksana/store/run_query.hpp"

// Which member of a filter leads to the fewest rows. Drivers with SQL read a list along the index
// of that member, and test the rest of the filter row by row; they have an index for each of these.

namespace ksana::store_kit {

enum class RunFilterKey : std::uint8_t {
    kNone,
    kParent,
    kJob,
    kCreator,
    kCategory,
    kType,
    kTenant
};

// Keys that a driver has an index for, as a set of bits.
using RunFilterKeys = std::uint8_t;
constexpr RunFilterKeys SetOf(RunFilterKey key) {
    return static_cast<RunFilterKeys>(1U << static_cast<unsigned>(key));
}
inline constexpr RunFilterKeys kAllRunFilterKeys = 0xFE;

// kNone: the filter asks for none of `indexed`. Most runs are of the default tenant, so it never
// narrows a list.
RunFilterKey NarrowestKey(const store::RunFilter& filter,
                          RunFilterKeys indexed = kAllRunFilterKeys);
// The filter without that member: what is left to test row by row.
store::RunFilter Without(store::RunFilter filter, RunFilterKey key);
// Returns whether the filter lets every run through, its words aside.
bool IsOpen(const store::RunFilter& filter);

enum class JobFilterKey : std::uint8_t {
    kNone,
    kLabel,
    kName,
    kCalendar,
    kOwner,
    kType,
    kGroup,
    kTenant
};

// Likewise. The default group narrows a list only where the driver's index has it, too.
struct JobFilterKeyChoice {
    JobFilterKey key = JobFilterKey::kNone;
    std::string_view value;  // of the filter, which must outlive it; empty for kNone and kLabel
};
JobFilterKeyChoice NarrowestKey(const store::JobFilter& filter, bool default_group_indexed);

}  // namespace ksana::store_kit
