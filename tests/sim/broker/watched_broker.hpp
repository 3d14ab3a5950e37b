#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "ksana/broker/broker.hpp"
#include "sim/sim_plant.hpp"

namespace ksana::sim {

// What the broker has said to all nodes and consumers of a world.
struct BrokerNews {
    std::set<std::string> confirmed;   // ids of the messages that it has taken
    std::function<void()> on_message;  // a message may have come into some queue
};

// The connection of one process to the broker, which can be cut for a while or for good; with the
// planted bugs of a node that misunderstands the broker. Notes what the broker confirms. Used on
// the world's thread; its links must not outlive it.
class WatchedBroker final : public broker::Broker {
  public:
    // The arguments must outlive the object.
    WatchedBroker(broker::Broker& inner, BrokerNews& news, ClusterPlant plant)
        : inner_(inner), news_(news), plant_(plant) {}

    Result<std::unique_ptr<broker::Link>> Open(std::string_view purpose) override;
    const std::string& name() const override { return inner_.name(); }

    // While it is cut, the links that it had are broken, and none can be opened.
    void Cut() {
        cut_ = true;
        ++cuts_;
    }
    void Mend() { cut_ = false; }

  private:
    class WatchedLink;

    broker::Broker& inner_;
    BrokerNews& news_;
    const ClusterPlant plant_;
    bool cut_ = false;
    int cuts_ = 0;
};

}  // namespace ksana::sim
