#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/node.hpp"
#include "ksana/store/page.hpp"

namespace ksana::store {

// The servers that share a store (K-24). Times are those of the store's clock unless the caller
// passes `now`, so that one clock judges how long a server has been silent. Owned by the Store.
// Thread-safe. Each call is one transaction; after an error nothing has changed. Export leaves the
// rows out: they describe processes, not the install.
class NodeStore {
  public:
    virtual ~NodeStore() = default;
    // Stores the node, replacing an earlier incarnation of the same name. From now on the store
    // holds a session for the incarnation, if it can (WithoutSession).
    virtual Result<model::ServerNode> Register(model::ServerNode node,
                                               std::optional<TimePoint> now = {}) = 0;
    // Stores the node as it is now, no longer `down`. Returns kNotFound if it is not registered,
    // kLeaseLost if another incarnation has taken the name. Wakes no reader of the change feed.
    virtual Result<model::ServerNode> Beat(model::ServerNode node,
                                           std::optional<TimePoint> now = {}) = 0;
    // Each of the three returns kNotFound if the node is not registered, kLeaseLost if another
    // incarnation has taken the name.
    virtual Result<void> Leave(const std::string& name, const std::string& incarnation) = 0;
    virtual Result<void> MarkDown(const std::string& name, const std::string& incarnation) = 0;
    // Deletes the row.
    virtual Result<void> Forget(const std::string& name, const std::string& incarnation) = 0;

    virtual Result<model::ServerNode> Get(const std::string& name) = 0;
    virtual Result<Page<model::ServerNode>> List(const ListParams& params) = 0;

    // Begins to hold the session of the incarnation, if the store can, before Register; without one
    // of its own a process cannot tell who else has none.
    virtual void HoldSession(const std::string& incarnation) = 0;

    // Returns those of the incarnations whose process is not connected to the database now; nothing
    // if the store cannot tell. A process that lives may be missing for the moment in which it
    // reconnects, so one answer proves nothing.
    virtual Result<std::optional<std::vector<std::string>>> WithoutSession(
        const std::vector<std::string>& incarnations) = 0;
};

}  // namespace ksana::store
