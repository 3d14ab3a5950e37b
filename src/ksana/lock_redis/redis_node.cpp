#include "ksana/lock_redis/redis_node.hpp"

#include "ksana/lock_redis/wire/tls.hpp"

namespace ksana::lock_redis {

RedisNode::RedisNode(RedisServer server, std::shared_ptr<const TlsContext> tls, const Clock& clock)
    : server_(std::move(server)), tls_(std::move(tls)), clock_(clock) {}

RedisNode::~RedisNode() = default;

bool RedisNode::Down() const {
    const MutexLock lock(mutex_);
    return down_until_ && clock_.SteadyNow() < *down_until_;
}

void RedisNode::NoteDown() {
    const MutexLock lock(mutex_);
    down_until_ = clock_.SteadyNow() + kDownMemory;
}

std::unique_ptr<Connection> RedisNode::TakeIdle() {
    const MutexLock lock(mutex_);
    if (idle_.empty()) return nullptr;
    std::unique_ptr<Connection> taken = std::move(idle_.back());
    idle_.pop_back();
    return taken;
}

Result<std::unique_ptr<Connection>> RedisNode::Connect(const Deadline& deadline) {
    return Connection::Open(server_, tls_.get(), deadline);
}

void RedisNode::GiveBack(std::unique_ptr<Connection> connection) {
    const MutexLock lock(mutex_);
    down_until_.reset();
    if (idle_.size() < kMostIdle) idle_.push_back(std::move(connection));
}

void RedisNode::DropIdle() {
    std::vector<std::unique_ptr<Connection>> dropped;  // closed outside the lock
    const MutexLock lock(mutex_);
    dropped.swap(idle_);
}

Exchange::Exchange(RedisNode& node, Command command, const Deadline& deadline)
    : node_(node), command_(std::move(command)), deadline_(deadline), sent_(Send()) {}

Result<void> Exchange::Send() {
    connection_ = node_.TakeIdle();
    reused_ = connection_ != nullptr;
    if (!reused_) {
        KSANA_TRY(connection_, node_.Connect(deadline_));
    }
    return connection_->SendEncoded(command_.Encoded(), deadline_);
}

Result<Reply> Exchange::Receive() {
    if (!sent_) return std::move(sent_).error();
    return connection_->Receive(deadline_);
}

Result<Reply> Exchange::Repeat() {
    node_.DropIdle();  // they were most likely closed with this one
    command_.MarkRepeated();
    KSANA_TRY(connection_, node_.Connect(deadline_));
    KSANA_TRY_VOID(connection_->SendEncoded(command_.Encoded(), deadline_));
    return connection_->Receive(deadline_);
}

Result<Reply> Exchange::Finish() {
    Result<Reply> reply = Receive();
    if (!reply && reused_ && connection_->cut()) reply = Repeat();
    if (reply && reply->kind == Reply::Kind::kError && reply->text.starts_with("NOSCRIPT")) {
        command_.SendText();
        sent_ = connection_->SendEncoded(command_.Encoded(), deadline_);
        reply = Receive();
    }
    if (!reply) {
        node_.NoteDown();
        return std::move(reply).error().WithContext(node_.Name());
    }
    node_.GiveBack(std::move(connection_));
    if (reply->kind == Reply::Kind::kError) return ServerError(*reply).WithContext(node_.Name());
    return reply;
}

}  // namespace ksana::lock_redis
