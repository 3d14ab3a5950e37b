#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/http_client/call.hpp"
#include "ksana/http_client/plain/plain_request.hpp"

namespace ksana::http_client {

// A call handed to the client's thread.
struct Submission {
    CallId id = 0;
    CallRequest request;
    CallDone done;
    std::string fault;                  // why the call is invalid; empty: it is valid
    std::optional<PlainRequest> plain;  // set if the call may go without libcurl
};

struct InboxBatch {
    std::vector<Submission> submissions;
    std::vector<CallId> cancels;  // may name submissions of the same batch

    bool Empty() const { return submissions.empty() && cancels.empty(); }
};

// A queue of calls and cancellations for the client's thread, which takes all of them in one batch.
// Put and Cancel wake the thread only when it sleeps, so many submissions cost one system call. The
// Client owns the inbox. Any thread may put; only the client's thread (the "taker") takes.
class Inbox {
  public:
    Inbox() = default;
    ~Inbox();
    Inbox(const Inbox&) = delete;
    Inbox& operator=(const Inbox&) = delete;

    // Accepts submissions from now on. Fails with kExhausted if no eventfd can be made.
    Result<void> Open();

    // Moves `submission` into the queue. Returns false and leaves it unchanged if the inbox is
    // closed.
    bool Put(Submission& submission);
    void Cancel(CallId id);

    // A descriptor that becomes readable when the taker is woken. Valid after Open.
    int wake_fd() const { return wake_fd_; }
    void Wake();

    // For the taker, which may sleep only after PrepareToSleep has returned true (the queue is
    // empty).
    void Take(InboxBatch& batch);
    bool PrepareToSleep();
    void DrainWakes();

    // Rejects submissions from now on and returns those not taken yet.
    InboxBatch Close();

  private:
    Mutex mutex_;
    InboxBatch batch_ KSANA_GUARDED_BY(mutex_);
    bool open_ KSANA_GUARDED_BY(mutex_) = false;
    bool sleeping_ KSANA_GUARDED_BY(mutex_) = false;
    int wake_fd_ = -1;  // made by the first Open
};

}  // namespace ksana::http_client
