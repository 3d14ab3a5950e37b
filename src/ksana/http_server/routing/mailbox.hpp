#pragma once

#include <functional>
#include <vector>

#include "ksana/base/process/mutex.hpp"

namespace ksana::http_server {

// A queue of tasks that other threads post to an I/O thread. Shared by the loop and the replies and
// streams of its connections, so it may outlive the loop; tasks posted after Close are dropped.
// Thread-safe.
class Mailbox {
  public:
    using Task = std::function<void()>;

    // `wake` must make the loop call TakeAll soon. It is called for the first task after each
    // TakeAll, with the lock held, and never after Close.
    explicit Mailbox(std::function<void()> wake) : wake_(std::move(wake)) {}

    void Post(Task task);
    std::vector<Task> TakeAll();
    void Close();

  private:
    Mutex mutex_;
    std::function<void()> wake_ KSANA_GUARDED_BY(mutex_);  // empty after Close
    std::vector<Task> tasks_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::http_server
