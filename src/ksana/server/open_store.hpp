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

// What every store is given. All must outlive it.
struct StoreEnvironment {
    Clock& clock;
    Random& random;  // used by several threads: a SystemRandom, or one that guards itself
    UuidGenerator& ids;
};

enum class OpenMode : std::uint8_t {
    kReadWrite,  // made when it is not there, and brought to the newest schema
    // Must be there (kNotFound) and have the newest schema (kConflict). The json store cannot be
    // read beside its writer (kUnavailable), nor with a jobs.json that has faults (which are
    // named).
    kReadOnly,
};

// kUnavailable when another process writes the files, or the server does not answer; kConflict
// when a later program made the schema.
Result<std::unique_ptr<store::Store>> OpenStore(const StoreUrl& url,
                                                const StoreEnvironment& environment, OpenMode mode);

// Changes nothing. A store without a schema (json, memory) has no steps. kNotFound when there is
// no such file.
Result<store_kit::MigrationStatus> MigrationStatusOf(const StoreUrl& url,
                                                     const StoreEnvironment& environment);

}  // namespace ksana::server
