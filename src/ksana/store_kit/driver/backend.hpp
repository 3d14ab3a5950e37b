#pragma once

#include <functional>
#include <span>

#include "ksana/base/error/result.hpp"
#include "ksana/store/change_feed.hpp"
#include "ksana/store/store.hpp"
#include "ksana/store_kit/driver/transaction.hpp"

namespace ksana::store_kit {

// A write that others of its kind may be done together with, in one transaction and, where they ask
// for the same, with one statement for all.
class SharedWrite {
  public:
    virtual ~SharedWrite() = default;

    // Does all of them, which are of one kind and have this one among them, and sets their results
    // anew each time.
    virtual Result<void> DoAll(Transaction& tx, std::span<SharedWrite* const> all) = 0;
    // About how many rows it is about.
    virtual std::size_t weight() const = 0;
};

// What a driver is: transactions over rows. MakeStore (kit_store.hpp) makes a Store of it.
// Thread-safe.
class Backend {
  public:
    virtual ~Backend() = default;

    using WriteBody = std::function<Result<void>(Transaction&)>;
    using ReadBody = std::function<Result<void>(Reader&)>;

    // Runs `body` in a transaction and commits it; returns after the commit is durable, and then
    // tells the change feed what the body touched. An error of the body or of the commit leaves
    // nothing behind. The body may run on another thread, and more than once (after a deadlock, or
    // because the batch it shared a commit with failed): it sets its results anew each time.
    virtual Result<void> Write(const WriteBody& body) = 0;
    // As Write, for a body that does nothing but Now, InsertRuns and Touch as long as all runs are
    // inserted: a driver may let several such bodies share one transaction and one statement. The
    // runs must live until Append returns.
    virtual Result<void> Append(const WriteBody& body) { return Write(body); }
    // As Write. A driver may let several callers share a transaction.
    virtual Result<void> Share(SharedWrite& write) { return WriteAlone(write); }
    // The same with nobody else.
    Result<void> WriteAlone(SharedWrite& write) {
        SharedWrite* const alone = &write;
        return Write([&](Transaction& tx) { return write.DoAll(tx, {&alone, 1}); });
    }
    // Sees what was committed before the call, and one state of the store throughout.
    virtual Result<void> Read(const ReadBody& body) = 0;

    virtual store::ChangeFeed& changes() = 0;
    virtual Result<store::StoreInfo> Info() = 0;
};

}  // namespace ksana::store_kit
