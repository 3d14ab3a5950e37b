#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/ksana/apply/definition_files.hpp"
#include "ksana/codec/json/json_tree.hpp"

namespace ksana::app {

// What an apply has made is known by these labels: the name of the set it belongs to, and a hash
// of the definition as it was applied, by which a change by hand is noticed later.
inline constexpr std::string_view kSetLabel = "apply_set";
inline constexpr std::string_view kHashLabel = "apply_hash";

enum class ThingKind : std::uint8_t { kCalendar, kGroup, kJob };
std::string_view NameOf(ThingKind kind);  // "calendar", …

enum class PlanVerb : std::uint8_t { kCreate, kChange, kDelete, kSame };

struct FieldChange {
    std::string field;   // "schedule.cron"; "exclude[]" is an item of a list
    std::string before;  // JSON; "" where it is not there
    std::string after;
    friend bool operator==(const FieldChange&, const FieldChange&) = default;
};

struct PlanItem {
    ThingKind kind = ThingKind::kJob;
    std::string name;
    PlanVerb verb = PlanVerb::kSame;
    std::vector<FieldChange> changes;
    bool drifted = false;  // changed by hand since the last apply
    bool adopted = false;  // there before, but not by an apply of this set
    std::string if_match;  // the entity tag of what is there; "" where nothing is
    codec::Json body;      // what is sent
};

// In the order in which it is done: what others need comes first, deletions come last.
struct Plan {
    std::vector<PlanItem> items;

    std::size_t Count(PlanVerb verb) const;
    bool Changes() const { return Count(PlanVerb::kSame) != items.size(); }
};

// What the server has of what is wanted, and everything else that the set has made.
struct StoredThings {
    std::map<std::string, codec::Json> jobs;  // by id, as the API shows them
    std::map<std::string, codec::Json> calendars;
    std::map<std::string, codec::Json> groups;
};

struct PlanOptions {
    std::string set;
    bool prune = false;
};

// Pure. Fails where the server's answer cannot be understood.
Result<Plan> MakePlan(const WantedThings& wanted, const StoredThings& stored,
                      const PlanOptions& options);

// The members that differ; of lists the items that come and go, or the whole where they only change
// places.
std::vector<FieldChange> Differences(const codec::Json& before, const codec::Json& after);

}  // namespace ksana::app
