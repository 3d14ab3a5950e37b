#pragma once

#include <map>
#include <memory>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/model/run/run_type.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// The types of runs as they were when last read: planning asks for them inside a transaction, where
// the store cannot be called. Thread-safe.
class TypeCache {
  public:
    // The store must outlive it.
    explicit TypeCache(store::Store& store) : store_(store) {}

    // One after the other: what was read earlier never replaces what was read later, so that who
    // has changed a type and refreshed the book finds the change in it.
    Result<void> Refresh();

    // Null where there is none of this code.
    std::shared_ptr<const model::RunType> Find(const std::string& code) const;
    std::size_t size() const;

  private:
    using Types = std::map<std::string, std::shared_ptr<const model::RunType>>;

    store::Store& store_;
    Mutex refreshing_ KSANA_ACQUIRED_BEFORE(mutex_);  // held while the store is asked
    mutable Mutex mutex_;
    std::shared_ptr<const Types> types_ KSANA_GUARDED_BY(mutex_) = std::make_shared<const Types>();
};

}  // namespace ksana::engine
