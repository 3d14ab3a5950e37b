#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "sim/broker/watched_broker.hpp"
#include "sim/sim_backend.hpp"
#include "sim/sim_limits.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

// Follows the tasks that nodes publish: none is noted as handed out before the broker has confirmed
// it (I17), and no more of a type are published and not over than its limit allows (I15). The rest
// is checked as for every task. Runs on the world's thread; reports violations to the world.
class BrokerChecks {
  public:
    // Returns under which name the node with this number holds shares.
    using OwnerOf = std::function<std::string(int node)>;

    BrokerChecks(World& world, const BrokerNews& news, OwnerOf owner_of)
        : world_(world), news_(news), owner_of_(std::move(owner_of)), limits_(world) {}

    void Limit(const std::string& type, const model::Limit& limit, bool shared) {
        type_ = type;
        limits_.Limit(type, limit, shared);
    }
    void OnCommit(const Commit& commit);

  private:
    World& world_;
    const BrokerNews& news_;
    const OwnerOf owner_of_;
    LimitChecks limits_;
    struct Claimed {
        std::string exec_id;
        std::string owner;     // of the node that has claimed it
        bool counted = false;  // it was published
        TimePoint expires{};   // its lease or deadline, by the store's clock
    };

    void Follow(const model::Run& run, bool running);
    void ForgetExpired();

    std::string type_;                 // that has a limit; empty: none has
    std::map<Uuid, Claimed> claimed_;  // runs of it that are under way
};

}  // namespace ksana::sim
