#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana::lock {

// What a caller asks a driver for.
struct LockRequest {
    std::string key;    // the whole key, with the prefix of the installation
    std::string token;  // names the holder: chosen by the caller, differs between holders
    Duration ttl = std::chrono::seconds(30);
    // The time of a fire, or another number that grows from one use of the lock to the next. The
    // server remembers the largest stamp of each key, also after the lock is free again, for at
    // least kStampMemory. A request whose stamp is not larger than the remembered one is refused:
    // so two processes whose clocks differ cannot both hold the lock for the same fire.
    std::optional<std::int64_t> stamp;
};

inline constexpr Duration kStampMemory = std::chrono::hours(24);

// A lock that is held.
struct Grant {
    // Grows with every acquisition of the key, also over releases, expiries and lost data. A
    // resource can use it to refuse an earlier holder.
    std::int64_t fence = 0;
    // How long the caller may rely on the lock, counted from the moment before it sent the request.
    // At most the TTL that the server applies.
    Duration valid_for{};
};

struct TryAnswer {
    std::optional<Grant> grant;  // none: another holder has the lock, or the stamp is too small
    // The remembered stamp of the key; none: there is none, or the driver was not told.
    std::optional<std::int64_t> last_stamp;
};

// Locks kept by one kind of server (G-06). The clock of that server decides when a lock expires,
// not that of the process. A driver makes no decisions beyond that: retries, automatic renewal and
// notices of loss are in LockManager. Owned by a LockManager or the server. Thread-safe; every call
// blocks until the server has answered or the driver's deadline has passed, which is kUnavailable.
// An empty key or token, or a TTL that is not positive, is kInvalidArgument.
class LockDriver {
  public:
    virtual ~LockDriver() = default;

    // Takes the lock if it is free, without waiting. A request with the token of the current
    // holder is granted again, with a new fence and a new TTL.
    virtual Result<TryAnswer> Try(const LockRequest& request) = 0;

    // Extends a held lock to `request.ttl` from now; the fence stays. Returns kLeaseLost if the
    // lock has expired, was stolen, or is held under another fence. `request.stamp` is ignored.
    virtual Result<Grant> Renew(const LockRequest& request, std::int64_t fence) = 0;

    // Frees the lock. Returns kLeaseLost if it is not held by this token under this fence; then
    // nothing changes for its present holder.
    virtual Result<void> Release(const LockRequest& request, std::int64_t fence) = 0;

    // Returns the server's name without secrets, for messages: "redis://127.0.0.1:6379".
    virtual std::string Location() const = 0;
};

}  // namespace ksana::lock
