#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/store/change_feed.hpp"
#include "ksana/store/store.hpp"
#include "ksana/store_kit/driver/transaction.hpp"

namespace ksana::store_kit {

// A write that may share one transaction with writes of other callers of the same class, and one
// statement where they ask for the same. Owned by its caller, which waits for it; DoAll may run on
// another thread.
class SharedWrite {
  public:
    virtual ~SharedWrite() = default;

    // Does all of `all`, which have the same class and include this one, and sets the results of
    // each. May be called more than once: each call starts over.
    virtual Result<void> DoAll(Transaction& tx, std::span<SharedWrite* const> all) = 0;
    // Returns about how many rows the write concerns; drivers bound a shared transaction by it.
    virtual std::size_t weight() const = 0;
};

// A driver: transactions over rows, and no rules. MakeStore (kit_store.hpp) makes a Store of it and
// owns it. Thread-safe.
class Backend {
  public:
    virtual ~Backend() = default;

    using WriteBody = std::function<Result<void>(Transaction&)>;
    using ReadBody = std::function<Result<void>(Reader&)>;

    // Runs `body` in a transaction, commits it, notifies the change feed of what the body touched,
    // and returns. An error of the body or of the commit leaves nothing behind (store::Store names
    // the exception). The body may run on another thread, and more than once (after a deadlock, or
    // because another body of the same batch failed): each run must reset its results.
    virtual Result<void> Write(const WriteBody& body) = 0;
    // Like Write, for a body that calls only Now, InsertRuns and Touch as long as every run is
    // inserted. A driver may run several such bodies in one transaction and with one statement. The
    // runs must live until Append returns.
    virtual Result<void> Append(const WriteBody& body) { return Write(body); }
    // Like Write. A driver may run the writes of several callers in one transaction.
    virtual Result<void> Share(SharedWrite& write) { return WriteAlone(write); }
    // Like Share, in a transaction of its own.
    Result<void> WriteAlone(SharedWrite& write) {
        SharedWrite* const alone = &write;
        return Write([&](Transaction& tx) { return write.DoAll(tx, {&alone, 1}); });
    }
    // Runs `body` on one consistent state of the store that includes everything committed before
    // the call. The body may run more than once.
    virtual Result<void> Read(const ReadBody& body) = 0;

    // Returns whether the last write failed because of the store itself.
    virtual bool WriteFails() { return false; }

    virtual store::ChangeFeed& changes() = 0;
    virtual Result<store::StoreInfo> Info() = 0;

    // A driver whose database notices at once that a process has died shows from now on, as long as
    // this process lives, that the incarnation is alive.
    virtual void HoldSession(const std::string& /*incarnation*/) {}
    // As store::NodeStore::WithoutSession; nothing: the driver cannot tell.
    virtual Result<std::optional<std::vector<std::string>>> WithoutSession(
        const std::vector<std::string>& /*incarnations*/) {
        return std::optional<std::vector<std::string>>();
    }
};

}  // namespace ksana::store_kit
