#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/http_client/call.hpp"
#include "ksana/http_client/plain/plain_request.hpp"

namespace ksana::http_client {

// What other threads want of the client's thread.
struct Submission {
    CallId id = 0;
    CallRequest request;
    CallDone done;
    std::string fault;                  // why it cannot be sent; empty: it can
    std::optional<PlainRequest> plain;  // where it may go without libcurl
};

struct InboxBatch {
    std::vector<Submission> submissions;
    std::vector<CallId> cancels;  // may name submissions of the same batch

    bool Empty() const { return submissions.empty() && cancels.empty(); }
};

// Hands calls over to the client's thread, all that have gathered at once. The thread is woken only
// when it sleeps: many submissions cost one system call. Any thread puts; one takes.
class Inbox {
  public:
    Inbox() = default;
    ~Inbox();
    Inbox(const Inbox&) = delete;
    Inbox& operator=(const Inbox&) = delete;

    // Takes submissions from now on.
    Result<void> Open();

    // False: it is closed, and `submission` is as it was.
    bool Put(Submission& submission);
    void Cancel(CallId id);

    // Readable when somebody has woken the taker; valid once opened.
    int wake_fd() const { return wake_fd_; }
    void Wake();

    // For the taker. It may sleep only after PrepareToSleep has said so.
    void Take(InboxBatch& batch);
    bool PrepareToSleep();
    void DrainWakes();

    // Nothing is taken any more; what was left comes back.
    InboxBatch Close();

  private:
    Mutex mutex_;
    InboxBatch batch_ KSANA_GUARDED_BY(mutex_);
    bool open_ KSANA_GUARDED_BY(mutex_) = false;
    bool sleeping_ KSANA_GUARDED_BY(mutex_) = false;
    int wake_fd_ = -1;  // made by the first Open
};

}  // namespace ksana::http_client
