#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/lock/lock_driver.hpp"

namespace ksana::lock_redis {

// A script that a server runs as one step. Immutable.
struct Script {
    explicit Script(std::string lua);

    std::string text;
    std::string sha1;  // its name on the server
};

// One command for a server. `words` is complete: it begins with EVALSHA and the script's name.
// It may be sent a second time after its answer was lost: its last word then says so.
struct Command {
    const Script* script = nullptr;
    std::vector<std::string> words;
    bool flagged = true;  // the last word is "0", or "1" if repeated

    void RunByText() {  // for a server that does not know the script, and learns it so
        words[0] = "EVAL";
        words[1] = script->text;
    }
    void MarkRepeated() {
        if (flagged) words.back() = "1";
    }
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
