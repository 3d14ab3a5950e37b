#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ksana::store_kit {

// One step of a driver's schema. Forward only: a released step never changes, a later step corrects
// it. Runs in one transaction with the insert of the row that records it.
struct Migration {
    int version;  // counts from 1 without gaps
    std::string_view name;
    std::string_view sql;
};

// The migration steps of a database compared with those of this program, for `ksana migrate
// --status`.
struct MigrationStatus {
    struct Step {
        int version = 0;
        std::string name;
        bool applied = false;
        friend bool operator==(const Step&, const Step&) = default;
    };
    std::vector<Step> steps;  // by version; includes steps that only the database has
    int newest_known = 0;     // by this program
    int newest_applied = 0;   // 0: none; above newest_known: a newer program applied it

    bool Pending() const { return newest_applied < newest_known; }
    friend bool operator==(const MigrationStatus&, const MigrationStatus&) = default;
};

}  // namespace ksana::store_kit
