#include "ksana/model/node.hpp"

namespace ksana::model {

std::string OwnerOf(const ServerNode& node) { return node.name + "/" + node.incarnation; }

NodeState StateOf(const ServerNode& node, TimePoint now) {
    if (node.gone) return NodeState::kGone;
    if (node.down || now - node.heartbeat_at > node.lease) return NodeState::kDown;
    return node.stopping ? NodeState::kStopping : NodeState::kAlive;
}

bool IsForgettable(const ServerNode& node, TimePoint now) {
    const NodeState state = StateOf(node, now);
    return (state == NodeState::kDown || state == NodeState::kGone) &&
           now - node.heartbeat_at > kKeepSilentNode;
}

}  // namespace ksana::model
