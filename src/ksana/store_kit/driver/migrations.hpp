#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ksana::store_kit {

// One step of a driver's schema. Forward only: what was released is never changed, a later step
// corrects it. Runs in one transaction together with the row that records it.
struct Migration {
    int version;  // counts from 1 without gaps
    std::string_view name;
    std::string_view sql;
};

// What a database has of the steps that this program knows, for `ksana migrate --status`.
struct MigrationStatus {
    struct Step {
        int version = 0;
        std::string name;
        bool applied = false;
        friend bool operator==(const Step&, const Step&) = default;
    };
    std::vector<Step> steps;  // by version; also those that only the database knows
    int newest_known = 0;     // by this program
    int newest_applied = 0;   // 0: none; above newest_known: a later program made it

    bool Pending() const { return newest_applied < newest_known; }
    friend bool operator==(const MigrationStatus&, const MigrationStatus&) = default;
};

}  // namespace ksana::store_kit
