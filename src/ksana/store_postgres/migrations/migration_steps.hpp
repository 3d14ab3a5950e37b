#pragma once

#include <span>

#include "ksana/store_kit/driver/migrations.hpp"

namespace ksana::store_postgres {

// Returns all steps of the schema, by version.
std::span<const store_kit::Migration> MigrationSteps();

}  // namespace ksana::store_postgres
