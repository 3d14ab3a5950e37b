#include "ksana/store_postgres/wire/connection_pool.hpp"

#include <fmt/core.h>

namespace ksana::store_postgres {

std::variant<ConnectionPool::Lease, Fault> ConnectionPool::Acquire(const Deadline& deadline) {
    auto slot = TakeSlot(deadline);
    if (auto* fault = std::get_if<Fault>(&slot)) return std::move(*fault);
    auto& connection = std::get<0>(slot);
    if (connection) return Lease(*this, std::move(connection));
    auto made = ConnectPatiently(deadline);
    if (auto* fault = std::get_if<Fault>(&made)) {
        FreeSlot();
        return std::move(*fault);
    }
    return Lease(*this, std::move(std::get<0>(made)));
}

// Returns an idle connection, or null if the caller may open one.
std::variant<std::unique_ptr<Connection>, Fault> ConnectionPool::TakeSlot(
    const Deadline& deadline) {
    MutexLock lock(mutex_);
    const auto available = [this]() KSANA_REQUIRES(mutex_) {
        return !idle_.empty() || taken_ < options_.size;
    };
    if (!freed_.WaitFor(lock, deadline.Remaining(), available)) {
        return DeadlineFault(
            fmt::format("none of the pool's {} connections became free", options_.size));
    }
    if (idle_.empty()) {
        ++taken_;
        return std::unique_ptr<Connection>();
    }
    auto connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
}

std::variant<std::unique_ptr<Connection>, Fault> ConnectionPool::Connect(
    const Deadline& deadline) const {
    return Connection::Open(options_.connection, deadline.Sooner(options_.connect_timeout));
}

// Retries what waiting may cure: an unreachable server, one that starts, one without a free slot.
std::variant<std::unique_ptr<Connection>, Fault> ConnectionPool::ConnectPatiently(
    const Deadline& deadline) {
    for (int tries = 1;; ++tries) {
        auto made = Connect(deadline);
        auto* fault = std::get_if<Fault>(&made);
        if (fault == nullptr) return made;
        const bool curable =
            fault->kind != FaultKind::kFinal || fault->error.code == Code::kExhausted;
        if (!curable || !backoff_.Wait(tries, kConnectBackoff, deadline)) return made;
        if (deadline.Passed()) return made;
    }
}

void ConnectionPool::Return(std::unique_ptr<Connection> connection) {
    if (connection->broken()) {
        connection.reset();
        FreeSlot();
        return;
    }
    {
        const MutexLock lock(mutex_);
        idle_.push_back(std::move(connection));
    }
    freed_.NotifyOne();
}

void ConnectionPool::FreeSlot() {
    {
        const MutexLock lock(mutex_);
        --taken_;
    }
    freed_.NotifyOne();
}

void ConnectionPool::DropIdle() {
    std::vector<std::unique_ptr<Connection>> dropped;
    {
        const MutexLock lock(mutex_);
        dropped.swap(idle_);
        taken_ -= dropped.size();
    }
    freed_.NotifyAll();
}

}  // namespace ksana::store_postgres
