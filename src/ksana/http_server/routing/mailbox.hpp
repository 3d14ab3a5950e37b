#pragma once

#include <functional>
#include <vector>

#include "ksana/base/process/mutex.hpp"

namespace ksana::http_server {

// How other threads get something done on an I/O thread. It outlives its loop as long as anyone
// holds it: what is posted after the loop has ended is thrown away. Thread-safe.
class Mailbox {
  public:
    using Task = std::function<void()>;

    // `wake` makes the loop call TakeAll soon; it is called for the first task after each TakeAll,
    // under the lock and never after Close.
    explicit Mailbox(std::function<void()> wake) : wake_(std::move(wake)) {}

    void Post(Task task);
    std::vector<Task> TakeAll();
    void Close();

  private:
    Mutex mutex_;
    std::function<void()> wake_ KSANA_GUARDED_BY(mutex_);  // empty when closed
    std::vector<Task> tasks_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::http_server
