#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/loop_thread.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/store/change_feed.hpp"
#include "ksana/store_kit/driver/backend.hpp"
#include "ksana/store_kit/driver/transaction.hpp"

namespace ksana::store_kit {

// The writing session of a driver. Owned by the driver; called by the writer thread only.
class CommitSession {
  public:
    virtual ~CommitSession() = default;

    virtual Result<void> Begin() = 0;
    // Returns the transaction object for the next body, with no topics touched. It belongs to the
    // transaction begun last and is valid until the next call.
    virtual Transaction& NextBody() = 0;
    // A counter that grows with every change inside the transaction. If a failed body has not moved
    // it, there is nothing to undo.
    virtual std::int64_t changes() const = 0;
    // Makes the transaction durable. After an error nothing of it is left.
    virtual Result<void> Commit() = 0;
    virtual void Rollback() = 0;
    // Does upkeep after the callers of a batch were woken; `idle` means that no caller is waiting.
    // Returns true to be called again while idle.
    virtual bool Maintain(bool idle) = 0;
};

// Lets many callers share one commit. While a commit is being written to disk, further bodies
// gather, and all of them form the next transaction. Bodies that arrive while that batch runs join
// it, because callers in a loop would otherwise form two groups that take turns. They join only
// once, so that the first callers do not wait forever. There is no timed wait, except in a
// session's Maintain (JSON): a lone caller is committed at once. Bodies run on the writer thread,
// in the order of the calls.
//
// A body that fails undoes only itself: if it had changed something, the batch is rolled back and
// the other bodies run again. If the commit fails, every caller of the batch gets its error. Owned
// by a driver. Thread-safe.
class GroupCommit {
  public:
    static constexpr std::size_t kMaxBatch = 512;

    // `session` and `changes` must outlive this object. `name` is the name of the writer thread.
    GroupCommit(std::string name, CommitSession& session, store::ChangeFeed& changes);
    // Commits what was submitted before, then stops the writer thread. No new call of Run may
    // begin.
    ~GroupCommit();
    GroupCommit(const GroupCommit&) = delete;
    GroupCommit& operator=(const GroupCommit&) = delete;

    Result<void> Start() { return thread_.Start(); }
    // Blocks until the body is committed or has failed. Must not be called from the writer thread.
    Result<void> Run(const Backend::WriteBody& body);
    // Returns the number of callers that no batch has taken yet.
    std::size_t waiting();
    // Returns whether the last batch that wrote something failed because of the store itself: no
    // transaction could be begun or committed, or a body met a full disk or damaged data.
    bool fails() const { return fails_; }

  private:
    // One call of Run, on the stack of its caller, which returns once `done` is set.
    struct Operation {
        const Backend::WriteBody& body;
        std::optional<Error> error;
        bool out = false;  // the body failed: do not run it again
        bool done KSANA_GUARDED_BY(mutex) = false;
        Mutex mutex;
        CondVar finished;
    };

    void Loop(const std::stop_token& stop);
    // Fills the batch with pending operations. Returns false if the thread is to stop and none is
    // left.
    bool Take(const std::stop_token& stop, bool wait);
    // Adds operations that have arrived since to the batch. Returns false if there are none.
    bool Join();
    bool MovePending() KSANA_REQUIRES(mutex_);
    void RunBatch();
    void NoteBatch();
    Result<bool> TryBatch(bool join);
    void RunAlone(Operation& operation);
    Result<void> CommitAndTell(store::Topics touched);
    static void Wake(Operation& operation);

    CommitSession& session_;
    store::ChangeFeed& changes_;
    Mutex mutex_;
    StopCondVar arrived_;
    std::deque<Operation*> pending_ KSANA_GUARDED_BY(mutex_);
    bool sleeping_ KSANA_GUARDED_BY(mutex_) = false;  // the writer waits on arrived_
    std::vector<Operation*> batch_;                   // used by the writer thread only
    bool wrote_ = false;  // a body of the batch has changed something; of the writer thread
    std::atomic<bool> fails_ = false;
    LoopThread thread_;
};

}  // namespace ksana::store_kit
