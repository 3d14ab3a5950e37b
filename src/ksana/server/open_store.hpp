#pragma once

#include <cstdint>
#include <memory>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/server/settings/store_url.hpp"
#include "ksana/store/store.hpp"
#include "ksana/store_kit/driver/migrations.hpp"

namespace ksana::server {

// The dependencies of a store. All must outlive it.
struct StoreEnvironment {
    Clock& clock;
    Random& random;  // must be thread-safe
    UuidGenerator& ids;
};

enum class OpenMode : std::uint8_t {
    kReadWrite,  // creates a missing store and migrates it to the newest schema
    // The store must exist (else kNotFound) and have the newest schema (else kConflict). A json
    // store must have no writer (else kUnavailable) and a valid jobs.json (else an error with every
    // fault).
    kReadOnly,
};

// Opens the store. Fails with kUnavailable if another process writes the files or the database
// server does not answer, and with kConflict if a newer program made the schema.
Result<std::unique_ptr<store::Store>> OpenStore(const StoreUrl& url,
                                                const StoreEnvironment& environment, OpenMode mode);

// Returns the schema migrations of a store and changes nothing. A store without a schema (json,
// memory) has no steps. Fails with kNotFound if the file does not exist.
Result<store_kit::MigrationStatus> MigrationStatusOf(const StoreUrl& url,
                                                     const StoreEnvironment& environment);

}  // namespace ksana::server
