#pragma once

#include <map>
#include <memory>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/model/run/run_type.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// A snapshot of all run types, because planning needs them inside a transaction, where the store
// cannot be called. Owned by Node; the types loop and TypeService refresh it. Thread-safe. A failed
// refresh keeps the old snapshot.
class TypeCache {
  public:
    // `store` must outlive the cache.
    explicit TypeCache(store::Store& store) : store_(store) {}

    // Reads all types. Calls are serialized, so an older reading never replaces a newer one: a
    // caller that changed a type finds the change after Refresh. Returns the store's error.
    Result<void> Refresh();

    // Returns null if there is no type with this code.
    std::shared_ptr<const model::RunType> Find(const std::string& code) const;
    std::size_t size() const;

  private:
    using Types = std::map<std::string, std::shared_ptr<const model::RunType>>;

    store::Store& store_;
    Mutex refreshing_ KSANA_ACQUIRED_BEFORE(mutex_);  // held while the store is read
    mutable Mutex mutex_;
    std::shared_ptr<const Types> types_ KSANA_GUARDED_BY(mutex_) = std::make_shared<const Types>();
};

}  // namespace ksana::engine
