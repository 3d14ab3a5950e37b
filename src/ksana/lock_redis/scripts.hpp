#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ksana/lock/lock_driver.hpp"

namespace ksana::lock_redis {

// A script that a server runs as one step. Immutable.
struct Script {
    explicit Script(std::string lua);

    std::string text;
    std::string sha1;  // its name on the server
};

// One command for a server: a script and its arguments. It may be sent a second time after its
// answer was lost: its last argument then says so.
class Command {
  public:
    Command(const Script& script, const lock::LockRequest& request);

    void Add(std::string_view argument);
    void AddNumber(std::int64_t argument);
    void AddFlag();  // the last argument: "0", or "1" if the command is repeated

    void MarkRepeated();
    // For a server that does not know the script's name, and learns it so.
    void SendText() { by_name_ = false; }

    std::string Encoded() const;

  private:
    const Script* script_;
    std::string arguments_;  // in Redis's protocol
    std::size_t words_ = 0;
    bool flagged_ = false;
    bool by_name_ = true;
};

// Takes the lock under a fence of at least `floor`. The answer is the fence, or {fence, stamp
// before}, or {stamp before} if it is refused.
Command TryCommand(const lock::LockRequest& request, std::int64_t floor);

// The others answer 1, or 0 if the lock is not held by this token under this fence.
Command RenewCommand(const lock::LockRequest& request, std::int64_t fence);
Command ReleaseCommand(const lock::LockRequest& request, std::int64_t fence);

// Gives a lock a larger fence, which another server of the majority has given it.
Command RaiseCommand(const lock::LockRequest& request, std::int64_t fence, std::int64_t larger);

// Takes a grant back as if it had never been: with a stamp, `before` is restored, since nobody has
// used this one.
Command UndoCommand(const lock::LockRequest& request, std::int64_t fence,
                    std::optional<std::int64_t> before);

// The TTL that the server applies: whole milliseconds, at least one.
std::chrono::milliseconds AppliedTtl(Duration ttl);

// The key of the fence and the stamp; in a cluster in the same slot as the key of the lock.
std::string StateKey(const std::string& key);

}  // namespace ksana::lock_redis
