#include "ksana/server/store_files.hpp"

#include <fmt/core.h>

#include "ksana/base/text/utf8.hpp"
#include "ksana/store_json/check_files.hpp"
#include "ksana/store_json/open_json.hpp"
#include "ksana/store_sqlite/damage/offline.hpp"

namespace ksana::server {

Result<StoreDamage> CheckStoreFiles(const StoreUrl& url, const StoreEnvironment&) {
    if (url.kind == StoreKind::kSqlite) {
        KSANA_TRY(auto report, store_sqlite::CheckSqliteFiles(url.location));
        return StoreDamage{.faults = std::move(report.faults), .live = report.live};
    }
    if (url.kind == StoreKind::kJson) {
        KSANA_TRY(auto faults, store_json::CheckJsonFiles(url.location));
        return StoreDamage{.faults = std::move(faults)};
    }
    return StoreDamage{};
}

Result<std::string> RepairStoreFiles(const StoreUrl& url, const StoreEnvironment& environment) {
    if (url.kind == StoreKind::kSqlite) {
        KSANA_TRY(const std::string copy, store_sqlite::RepairSqliteFiles(url.location));
        return fmt::format(
            "what can be read was kept; {} and the files beside it are copies of "
            "what was there",
            Printable(copy));
    }
    if (url.kind == StoreKind::kJson) {
        KSANA_TRY([[maybe_unused]] const auto opened,
                  store_json::OpenJson({.path = url.location,
                                        .clock = environment.clock,
                                        .ids = environment.ids,
                                        .accept_damage = true}));
        return std::string(
            "what can be read was kept; a copy of a damaged file has \".bad\" in "
            "its name");
    }
    return Error(Code::kInvalidArgument, "only a SQLite or JSON store has files to repair");
}

}  // namespace ksana::server
