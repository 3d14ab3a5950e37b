#include "ksana/engine/nodes/node_name.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "ksana/base/log/log.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::engine {
namespace {

using model::NodeState;
using model::ServerNode;

constexpr Duration kLook = std::chrono::milliseconds(250);
// A process that lives may be without a session for the moment in which it reconnects.
constexpr int kMissesOfDead = 2;

// Looks at the row of a name until it is clear whether its server lives. Used once.
class NameWatch {
  public:
    NameWatch(store::Store& store, const ServerNode& self) : store_(store), self_(self) {}

    // Returns whether the name is free, kConflict if another server lives under it.
    Result<bool> Look() {
        auto row = store_.nodes().Get(self_.name);
        if (!row && row.error().code == Code::kNotFound) return true;
        if (!row) return std::move(row).error();
        if (row->incarnation == self_.incarnation) return true;
        KSANA_TRY(const TimePoint now, store_.Now());
        const NodeState state = model::StateOf(*row, now);
        if (state == NodeState::kGone || state == NodeState::kDown) return true;
        if (first_ && Lives(*row)) return Taken(*row, now);
        KSANA_TRY(const bool absent, HasNoSession(row->incarnation));
        if (!first_) store_.nodes().HoldSession(self_.incarnation);
        misses_ = absent ? misses_ + 1 : 0;
        if (misses_ >= kMissesOfDead) return true;
        if (!first_) first_ = std::move(*row);
        return false;
    }

    // The other server as it was first seen.
    const ServerNode& other() const { return *first_; }

  private:
    bool Lives(const ServerNode& row) const {
        return row.incarnation != first_->incarnation || row.heartbeat_at > first_->heartbeat_at;
    }
    Result<bool> HasNoSession(const std::string& incarnation) {
        KSANA_TRY(const auto absent, store_.nodes().WithoutSession({incarnation}));
        return absent && std::ranges::find(*absent, incarnation) != absent->end();
    }
    Error Taken(const ServerNode& row, TimePoint now) const {
        const auto silent = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::max(now - row.heartbeat_at, Duration{}));
        return {Code::kConflict,
                fmt::format("another server lives under the name \"{}\" ({}, heard of {} ago): set "
                            "another node_name, or stop that server first",
                            row.name, row.address.empty() ? "without an address" : row.address,
                            FormatDuration(silent))};
    }

    store::Store& store_;
    const ServerNode& self_;
    std::optional<ServerNode> first_;
    int misses_ = 0;
};

}  // namespace

Result<void> AwaitName(store::Store& store, Clock& clock, const ServerNode& self) {
    NameWatch watch(store, self);
    Wakeup nobody;
    for (bool told = false;; told = true) {
        KSANA_TRY(const bool free, watch.Look());
        if (free) return {};
        if (!told) {
            Log(LogLevel::kInfo,
                "a server with the name of this one may live; waiting for its heartbeat or the end "
                "of its lease",
                {{"node", self.name},
                 {"address", watch.other().address},
                 {"lease", FormatDuration(watch.other().lease)}});
        }
        clock.Wait(nobody, clock.SteadyNow() + kLook, {});
    }
}

}  // namespace ksana::engine
