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
    kFull,  // what was answered survives a loss of power
    // What was answered survives the end of the process, but a loss of power or a crash of the
    // system may take back the last commits (those since the last checkpoint at most), never a
    // part of one, and never the database.
    kNormal,
};

struct SqliteOptions {
    std::string path;
    Clock& clock;            // outlives the backend
    bool read_only = false;  // also beside the process that writes; the schema must be the newest
    bool create = true;      // the file, when it is not there
    std::size_t readers = 4;
    Durability durability = Durability::kFull;
};

// Opens the database and brings its schema to the newest version, unless read_only. kUnavailable
// when another process writes it; kConflict when a newer program made it; kNotFound without
// `create`.
Result<std::unique_ptr<store_kit::Backend>> OpenSqlite(const SqliteOptions& options);

// Changes nothing, also not beside a running server.
Result<store_kit::MigrationStatus> SqliteMigrationStatus(const std::string& path);

}  // namespace ksana::store_sqlite
