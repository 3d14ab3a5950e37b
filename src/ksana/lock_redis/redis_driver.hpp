#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ksana/lock_redis/redis_node.hpp"

namespace ksana::lock_redis {

// The driver: one server is a majority of one. Thread-safe; a call runs on its caller's thread, and
// several servers work on it at the same time.
class RedisDriver final : public lock::LockDriver {
  public:
    RedisDriver(std::vector<std::unique_ptr<RedisNode>> nodes, const Clock& clock,
                Duration timeout);

    Result<lock::TryAnswer> Try(const lock::LockRequest& request) override;
    Result<lock::Grant> Renew(const lock::LockRequest& request, std::int64_t fence) override;
    Result<void> Release(const lock::LockRequest& request, std::int64_t fence) override;
    std::string Location() const override;

  private:
    // A grant of one server.
    struct Vote {
        std::size_t node = 0;
        std::int64_t fence = 0;
        std::optional<std::int64_t> before;  // the stamp before
    };
    // What the servers have answered to a Try.
    struct Poll {
        std::vector<Vote> votes;
        std::size_t refusals = 0;
        std::size_t faults = 0;
        std::optional<Error> fault;
        std::optional<Error> conflict;
        std::vector<std::int64_t> stamps;  // of the servers that have one

        std::int64_t Fence() const;
    };
    using Nodes = std::vector<std::size_t>;

    std::size_t Quorum() const { return nodes_.size() / 2 + 1; }
    // Of so many servers the others alone are no majority.
    bool Blocks(std::size_t count) const { return count > nodes_.size() - Quorum(); }
    Nodes Usable() const;
    Nodes Except(const Nodes& nodes) const;
    Duration Share(Duration ttl) const;
    // Sends each of the nodes its command and returns their answers, in the same order.
    std::vector<Result<Reply>> Ask(std::span<const std::size_t> nodes,
                                   std::vector<Command> commands, Duration timeout);
    void AskFor(std::span<const std::size_t> nodes, const lock::LockRequest& request, Poll& poll);
    bool Raise(const lock::LockRequest& request, Poll& poll);
    void Undo(const lock::LockRequest& request, const Poll& poll);
    Result<lock::TryAnswer> Refuse(Poll poll) const;
    Result<void> Confirm(const Command& command, Duration timeout);
    std::optional<lock::Grant> MakeGrant(const lock::LockRequest& request, std::int64_t fence,
                                         SteadyPoint before) const;
    Error TooFew(std::size_t faults, const Error& fault) const;

    const std::vector<std::unique_ptr<RedisNode>> nodes_;
    const Clock& clock_;
    const Duration timeout_;
};

}  // namespace ksana::lock_redis
