#pragma once

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

// The one writing session of a driver. All calls come from the writer thread.
class CommitSession {
  public:
    virtual ~CommitSession() = default;

    virtual Result<void> Begin() = 0;
    // What the next body is given: it belongs to the transaction begun last, and has touched
    // nothing. The one before ends with the call.
    virtual Transaction& NextBody() = 0;
    // Grows with every change inside the transaction: a body that failed and changed nothing need
    // not be undone.
    virtual std::int64_t changes() const = 0;
    // Durable afterwards. An error leaves nothing of the transaction behind.
    virtual Result<void> Commit() = 0;
    virtual void Rollback() = 0;
    // After the callers of a batch were woken; `idle` when nothing waits. True: call again while
    // idle.
    virtual bool Maintain(bool idle) = 0;
};

// Lets many callers share commits: while one commit is on its way to the disk, further bodies
// gather, and all of them make the next transaction. Who comes while their bodies run goes along,
// once, so that the first of them do not wait for ever: callers that work in a loop would otherwise
// form two groups that take turns. There is no timed wait: a lone caller is committed at once.
// Bodies run on the writer thread, in the order of the calls.
//
// A body that fails takes only itself back: where it had changed something, the batch is rolled
// back and the others run again. A commit that fails is the answer to the whole batch. Thread-safe.
class GroupCommit {
  public:
    static constexpr std::size_t kMaxBatch = 512;

    // Both must outlive it.
    GroupCommit(std::string name, CommitSession& session, store::ChangeFeed& changes);
    // What was called before is still committed.
    ~GroupCommit();
    GroupCommit(const GroupCommit&) = delete;
    GroupCommit& operator=(const GroupCommit&) = delete;

    Result<void> Start() { return thread_.Start(); }
    // Blocks until the body is committed or has failed. Not from the writer thread.
    Result<void> Run(const Backend::WriteBody& body);
    // Callers that no batch has taken yet.
    std::size_t waiting();

  private:
    // Lives on the stack of its caller, which leaves when `done` is set.
    struct Operation {
        const Backend::WriteBody& body;
        std::optional<Error> error;
        bool out = false;  // failed by itself: not run again
        bool done KSANA_GUARDED_BY(mutex) = false;
        Mutex mutex;
        CondVar finished;
    };

    void Loop(const std::stop_token& stop);
    // False: stopped and nothing is left.
    bool Take(const std::stop_token& stop, bool wait);
    // Takes into the batch who has come since.
    bool Join();
    bool MovePending() KSANA_REQUIRES(mutex_);
    void RunBatch();
    Result<bool> TryBatch(bool join);
    void RunAlone(Operation& operation);
    Result<void> CommitAndTell(store::Topics touched);
    static void Wake(Operation& operation);

    CommitSession& session_;
    store::ChangeFeed& changes_;
    Mutex mutex_;
    StopCondVar arrived_;
    std::deque<Operation*> pending_ KSANA_GUARDED_BY(mutex_);
    bool sleeping_ KSANA_GUARDED_BY(mutex_) = false;  // the writer waits for arrived_
    std::vector<Operation*> batch_;                   // of the writer thread
    LoopThread thread_;
};

}  // namespace ksana::store_kit
