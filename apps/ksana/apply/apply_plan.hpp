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

// Labels of a job that was created by `apply`: the set it belongs to, and a hash of the definition
// as applied. A different hash later reveals a change by hand.
inline constexpr std::string_view kSetLabel = "apply_set";
inline constexpr std::string_view kHashLabel = "apply_hash";

enum class ItemKind : std::uint8_t { kCalendar, kGroup, kJob };
std::string_view NameOf(ItemKind kind);  // "calendar", …

enum class PlanVerb : std::uint8_t { kCreate, kChange, kDelete, kSame };

struct FieldChange {
    std::string field;   // "schedule.cron"; "exclude[]" is an element of a list
    std::string before;  // JSON; "": the member is absent
    std::string after;
    friend bool operator==(const FieldChange&, const FieldChange&) = default;
};

struct PlanItem {
    ItemKind kind = ItemKind::kJob;
    std::string name;
    PlanVerb verb = PlanVerb::kSame;
    std::vector<FieldChange> changes;
    bool drifted = false;  // changed by hand since the last apply
    bool adopted = false;  // existed before and does not belong to this set
    std::string if_match;  // entity tag of the stored version; "": nothing is stored
    codec::Json body;      // the request body
};

// The changes in the order in which they are made: dependencies first, deletions last.
struct Plan {
    std::vector<PlanItem> items;

    std::size_t Count(PlanVerb verb) const;
    bool Changes() const { return Count(PlanVerb::kSame) != items.size(); }
};

// The wanted items that exist on the server, and all other items of the set.
struct StoredItems {
    std::map<std::string, codec::Json> jobs;  // by id, in the form of the API
    std::map<std::string, codec::Json> calendars;
    std::map<std::string, codec::Json> groups;
};

struct PlanOptions {
    std::string set;
    bool prune = false;
};

// Compares the wanted items with the stored ones. Pure. Fails if an item of the server cannot be
// parsed.
Result<Plan> MakePlan(const DefinedItems& wanted, const StoredItems& stored,
                      const PlanOptions& options);

// Returns the members that differ. For a list: the added and removed elements, or the whole list if
// only its order changed.
std::vector<FieldChange> Differences(const codec::Json& before, const codec::Json& after);

}  // namespace ksana::app
