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

// What people do with types of runs (T-06), whichever door they come through: checks them and
// stores them with the audit event of who did it. A run keeps the policy that its type had when it
// was made. Thread-safe.
class TypeService {
  public:
    // What is given must outlive it.
    TypeService(store::Store& store, TypeCache& book) : store_(store), book_(book) {}

    Result<StoredType> Get(const std::string& code);

    // Makes a type of what is there (none: there is nothing of this code), and stores it if nobody
    // else has meanwhile, else asks again. An error of `edit` leaves everything as it is. When this
    // comes back this node knows the type as it is now; other nodes soon.
    using Edit = std::function<Result<model::RunType>(const std::optional<StoredType>&)>;
    Result<StoredType> Change(const std::string& code, const Edit& edit, const Actor& by = {});

    // What has not started goes on with the policy it has. `check` is asked about what is there
    // first.
    using Check = std::function<Result<void>(const StoredType&)>;
    Result<void> Delete(const std::string& code, const Check& check, const Actor& by = {});

    const TypeCache& book() const { return book_; }

  private:
    Result<std::optional<StoredType>> Find(const std::string& code);
    void Refresh();

    store::Store& store_;
    TypeCache& book_;
    Mutex changing_;  // changes through this service come one after the other
};

// All of them are read into memory by every node.
inline constexpr std::size_t kMaxTypes = 1'000;

}  // namespace ksana::engine
