#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/engine/actor.hpp"
#include "ksana/engine/services/type_cache.hpp"
#include "ksana/model/run/run_type.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

using StoredType = store::Versioned<model::RunType>;

// Reads, changes and deletes run types (T-06) for all APIs: validates them and stores them with the
// audit event. A run keeps the policy that its type had when the run was made. Owned by the server.
// Thread-safe; calls run on the caller's thread. The store's errors are returned.
class TypeService {
  public:
    // `store` and `book` must outlive the service.
    TypeService(store::Store& store, TypeCache& book) : store_(store), book_(book) {}

    Result<StoredType> Get(const std::string& code);

    // Calls `edit` with the stored type (none: no type has this code) and stores its result if the
    // stored type is still the same; otherwise calls `edit` again. An error of `edit` is returned,
    // and nothing changes. Afterwards this node knows the new type; other nodes know it soon.
    using Edit = std::function<Result<model::RunType>(const std::optional<StoredType>&)>;
    Result<StoredType> Change(const std::string& code, const Edit& edit, const Actor& by = {});

    // Deletes a type after `check` has accepted the stored one. Runs that have not started keep the
    // policy they have. kNotFound: no such type.
    using Check = std::function<Result<void>(const StoredType&)>;
    Result<void> Delete(const std::string& code, const Check& check, const Actor& by = {});

    const TypeCache& book() const { return book_; }

  private:
    Result<std::optional<StoredType>> Find(const std::string& code);
    void Refresh();

    store::Store& store_;
    TypeCache& book_;
    Mutex changing_;  // serializes the changes through this service
};

// Every node keeps all types in memory.
inline constexpr std::size_t kMaxTypes = 1'000;

}  // namespace ksana::engine
