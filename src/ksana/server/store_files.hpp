#pragma once

#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/server/open_store.hpp"

namespace ksana::server {

// Damage in the files of a store.
struct StoreDamage {
    std::vector<std::string> faults;  // none: nothing was found
    bool live = false;  // a server writes it: only what can be seen beside it is checked
};

// Reads all files of a SQLite or JSON store and changes nothing. Other stores have no files: no
// faults. Fails with kNotFound if there is no such store.
Result<StoreDamage> CheckStoreFiles(const StoreUrl& url, const StoreEnvironment& environment);

// Accepts what can be read of a damaged store, whose files are copied before. Says what was done.
// Fails with kUnavailable if a server writes the store.
Result<std::string> RepairStoreFiles(const StoreUrl& url, const StoreEnvironment& environment);

}  // namespace ksana::server
