#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/store_kit/driver/backend.hpp"
#include "ksana/store_kit/driver/migrations.hpp"

namespace ksana::store_sqlite {

enum class Durability : std::uint8_t {
    kFull,  // an acknowledged commit survives a loss of power
    // An acknowledged commit survives the end of the process. A loss of power or a crash of the
    // system may undo the last commits (at most those since the last checkpoint), but never a part
    // of a commit, and it never damages the database.
    kNormal,
};

struct SqliteOptions {
    std::string path;
    Clock& clock;            // must outlive the backend
    bool read_only = false;  // works while another process writes; the schema must be up to date
    bool create = true;      // whether to create a missing file
    std::size_t readers = 4;
    Durability durability = Durability::kFull;
};

// Opens the database and, unless read_only, brings its schema up to date. Returns kUnavailable if
// another process has it open for writing, kConflict if a later program has made it or, with
// read_only, if it is not up to date, and kNotFound if it does not exist and may not be created.
Result<std::unique_ptr<store_kit::Backend>> OpenSqlite(const SqliteOptions& options);

// Reads which migration steps the database has. Changes nothing; safe while a server is running.
Result<store_kit::MigrationStatus> SqliteMigrationStatus(const std::string& path);

}  // namespace ksana::store_sqlite
