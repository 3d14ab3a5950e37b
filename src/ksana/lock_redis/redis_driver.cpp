#include "ksana/lock_redis/redis_driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>

#include "ksana/lock/memory_locks.hpp"

namespace ksana::lock_redis {
namespace {

Error NotHeld() { return {Code::kLeaseLost, "the lock is no longer held"}; }

std::optional<std::int64_t> ReadStamp(const Reply& reply) {
    std::int64_t stamp = 0;
    const char* const end = reply.text.data() + reply.text.size();
    const auto [stop, fault] = std::from_chars(reply.text.data(), end, stamp);
    if (reply.kind != Reply::Kind::kText || fault != std::errc() || stop != end) return {};
    return stamp;
}

}  // namespace

RedisDriver::RedisDriver(std::vector<std::unique_ptr<RedisNode>> nodes, const Clock& clock,
                         Duration timeout)
    : nodes_(std::move(nodes)), clock_(clock), timeout_(timeout) {}

std::int64_t RedisDriver::Poll::Fence() const {
    std::int64_t largest = 0;
    for (const Vote& vote : votes) largest = std::max(largest, vote.fence);
    return largest;
}

// Leaves out the servers that have just failed, if the others are enough.
RedisDriver::Nodes RedisDriver::Usable() const {
    Nodes all(nodes_.size());
    std::iota(all.begin(), all.end(), 0);
    if (all.size() == 1) return all;
    Nodes up;
    std::copy_if(all.begin(), all.end(), std::back_inserter(up),
                 [this](std::size_t node) { return !nodes_[node]->Down(); });
    return up.size() >= Quorum() ? up : all;
}

RedisDriver::Nodes RedisDriver::Except(const Nodes& nodes) const {
    Nodes others;
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
        if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) others.push_back(node);
    }
    return others;
}

// Of several servers one that does not answer costs a part of the TTL only.
Duration RedisDriver::Share(Duration ttl) const {
    if (nodes_.size() == 1) return timeout_;
    return std::min(timeout_, std::max<Duration>(ttl / 5, std::chrono::milliseconds(20)));
}

std::vector<Result<Reply>> RedisDriver::Ask(std::span<const std::size_t> nodes,
                                            std::vector<Command> commands, Duration timeout) {
    std::vector<Exchange> exchanges;
    exchanges.reserve(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        exchanges.emplace_back(*nodes_[nodes[i]], std::move(commands[i]),
                               Deadline(clock_, timeout));
    }
    std::vector<Result<Reply>> replies;
    replies.reserve(nodes.size());
    for (Exchange& exchange : exchanges) replies.push_back(exchange.Finish());
    return replies;
}

void RedisDriver::AskFor(std::span<const std::size_t> nodes, const lock::LockRequest& request,
                         Poll& poll) {
    // With the fence of the first server, the others normally give the same one.
    std::vector<Command> commands(nodes.size(), TryCommand(request, poll.Fence()));
    const auto replies = Ask(nodes, std::move(commands), Share(request.ttl));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!replies[i]) {
            const bool conflict = replies[i].error().code == Code::kConflict;
            std::optional<Error>& kept = conflict ? poll.conflict : poll.fault;
            if (!kept) kept = replies[i].error();
            ++(conflict ? poll.refusals : poll.faults);
            continue;
        }
        const std::vector<Reply>& items = replies[i]->items;
        const auto stamp = items.empty() ? std::nullopt : ReadStamp(items.back());
        if (stamp) poll.stamps.push_back(*stamp);
        if (items.size() == 1) {
            ++poll.refusals;
        } else {
            const Reply& fence = items.empty() ? *replies[i] : items[0];
            poll.votes.push_back({.node = nodes[i], .fence = fence.integer, .before = stamp});
        }
    }
}

// Gives all servers that granted the lock the largest fence of them, so that the next majority, of
// which one server at least is among them, gives a larger one. Returns whether a majority has it.
bool RedisDriver::Raise(const lock::LockRequest& request, Poll& poll) {
    const std::int64_t largest = poll.Fence();
    std::vector<Vote*> behind;
    Nodes nodes;
    std::vector<Command> commands;
    for (Vote& vote : poll.votes) {
        if (vote.fence == largest) continue;
        behind.push_back(&vote);
        nodes.push_back(vote.node);
        commands.push_back(RaiseCommand(request, vote.fence, largest));
    }
    const auto replies = Ask(nodes, std::move(commands), Share(request.ttl));
    std::size_t raised = poll.votes.size() - behind.size();
    for (std::size_t i = 0; i < behind.size(); ++i) {
        if (!replies[i] || replies[i]->integer != 1) continue;
        behind[i]->fence = largest;
        ++raised;
    }
    return raised >= Quorum();
}

// A server that cannot be reached keeps the lock for its TTL.
void RedisDriver::Undo(const lock::LockRequest& request, const Poll& poll) {
    Nodes nodes;
    std::vector<Command> commands;
    for (const Vote& vote : poll.votes) {
        nodes.push_back(vote.node);
        commands.push_back(UndoCommand(request, vote.fence, vote.before));
    }
    Ask(nodes, std::move(commands), Share(request.ttl));
}

Error RedisDriver::TooFew(std::size_t faults, const Error& fault) const {
    if (nodes_.size() == 1) return fault;
    return {Code::kUnavailable, fmt::format("{} of {} lock servers cannot be used: {}", faults,
                                            nodes_.size(), fault.message)};
}

Result<lock::TryAnswer> RedisDriver::Refuse(Poll poll) const {
    if (poll.conflict) return *std::move(poll.conflict);
    if (Blocks(poll.faults)) return TooFew(poll.faults, *poll.fault);
    // A stamp counts if a majority knows it. What fewer know may be of an attempt that its process
    // is about to take back, and then the fire with that stamp is still to be made.
    lock::TryAnswer answer;
    if (poll.stamps.size() >= Quorum()) {
        std::sort(poll.stamps.begin(), poll.stamps.end(), std::greater<>());
        answer.last_stamp = poll.stamps[Quorum() - 1];
    }
    return answer;
}

std::optional<lock::Grant> RedisDriver::MakeGrant(const lock::LockRequest& request,
                                                  std::int64_t fence, SteadyPoint before) const {
    Duration valid = std::min<Duration>(request.ttl, AppliedTtl(request.ttl));
    if (nodes_.size() > 1) {
        // The clocks of the servers do not run equally fast.
        const Duration drift = valid / 100 + std::chrono::milliseconds(2);
        valid -= drift + std::chrono::ceil<Duration>(clock_.SteadyNow() - before);
        if (valid <= Duration::zero()) return std::nullopt;
    }
    return lock::Grant{.fence = fence, .valid_for = valid};
}

Result<lock::TryAnswer> RedisDriver::Try(const lock::LockRequest& request) {
    KSANA_TRY_VOID(lock::CheckRequest(request));
    const SteadyPoint before = clock_.SteadyNow();
    const Nodes nodes = Usable();
    std::span<const std::size_t> left(nodes);
    Poll poll;
    // One server after the other, in the order that all processes have, until one grants the lock;
    // then the others at once. Were all asked at once from the beginning, each of several processes
    // could get one server and none a majority.
    while (!left.empty() && poll.votes.empty() && !Blocks(poll.refusals + poll.faults)) {
        AskFor(left.first(1), request, poll);
        left = left.subspan(1);
    }
    if (!poll.votes.empty()) AskFor(left, request, poll);
    if (poll.votes.size() < Quorum() && !Blocks(poll.refusals)) {
        // One more has failed: those that were left out are needed.
        AskFor(Except(nodes), request, poll);
    }
    if (poll.votes.size() < Quorum()) {
        Undo(request, poll);
        return Refuse(std::move(poll));
    }
    const bool raised = Raise(request, poll);
    const auto grant = MakeGrant(request, poll.Fence(), before);
    if (!raised || !grant) {
        Undo(request, poll);
        return Error(Code::kUnavailable,
                     "the lock servers did not answer within a small part of the TTL");
    }
    return lock::TryAnswer{.grant = grant, .last_stamp = request.stamp};
}

// Sends a command that is answered with 1 or 0. A majority must answer 1.
Result<void> RedisDriver::Confirm(const Command& command, Duration timeout) {
    Nodes nodes = Usable();
    std::size_t done = 0;
    std::size_t lost = 0;
    std::optional<Error> fault;
    const auto count = [&] {
        std::vector<Command> commands(nodes.size(), command);
        for (const Result<Reply>& reply : Ask(nodes, std::move(commands), timeout)) {
            if (reply && reply->integer == 1) ++done;
            // Something that is not a lock stands in its place: stolen.
            else if (reply || reply.error().code == Code::kConflict)
                ++lost;
            else if (!fault)
                fault = reply.error();
        }
    };
    count();
    if (done < Quorum() && !Blocks(lost) && nodes.size() < nodes_.size()) {
        // The lock may be on the servers that were left out.
        nodes = Except(nodes);
        count();
    }
    if (done >= Quorum()) return {};
    if (Blocks(lost) || !fault) return NotHeld();
    return TooFew(nodes_.size() - done - lost, *fault);
}

Result<lock::Grant> RedisDriver::Renew(const lock::LockRequest& request, std::int64_t fence) {
    KSANA_TRY_VOID(lock::CheckRequest(request));
    const SteadyPoint before = clock_.SteadyNow();
    KSANA_TRY_VOID(Confirm(RenewCommand(request, fence), Share(request.ttl)));
    const auto grant = MakeGrant(request, fence, before);
    if (!grant) return Error(Code::kUnavailable, "the lock servers answered after the TTL");
    return *grant;
}

Result<void> RedisDriver::Release(const lock::LockRequest& request, std::int64_t fence) {
    KSANA_TRY_VOID(lock::CheckRequest(request));
    return Confirm(ReleaseCommand(request, fence), Share(request.ttl));
}

std::string RedisDriver::Location() const {
    std::string names;
    for (const auto& node : nodes_) names += (names.empty() ? "" : ",") + node->Name();
    return names;
}

}  // namespace ksana::lock_redis
