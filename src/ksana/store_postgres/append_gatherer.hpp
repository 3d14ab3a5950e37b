#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "ksana/store_kit/backend.hpp"
#include "ksana/store_postgres/deadline.hpp"

namespace ksana::store_postgres {

// Lets callers that come at the same time share a transaction: whoever finds no other at it runs
// the bodies of all who wait, the rest wait for it. A group is what came while the one before was
// under way. Its members, all told at once, often come back together: the next leader gives them a
// small part of the time that group took, else the first to return would go alone. A caller without
// company does not wait. Thread-safe.
class AppendGatherer {
  public:
    using Body = store_kit::Backend::WriteBody;
    // One caller's part of a group. Lives on its stack.
    struct Part {
        const Body& body;
        const Deadline& deadline;
        Result<void> result;

        bool taken = false;  // these three guarded by the gatherer's mutex
        bool done = false;
        std::condition_variable changed{};
    };
    using Parts = std::vector<Part*>;
    // Sets the result of every part; must return soon after the earliest of their deadlines.
    using RunGroup = std::function<void(const Parts&)>;

    AppendGatherer(const Clock& clock, RunGroup run) : clock_(clock), run_(std::move(run)) {}

    Result<void> Append(const Body& body, const Deadline& deadline);

  private:
    static constexpr std::size_t kMaxGroup = 128;
    static constexpr int kPatience = 8;  // waits for company: this part of the last group's time

    void Lead(Part& leader, std::unique_lock<std::mutex>& lock);
    void AwaitCompany(Part& leader, std::unique_lock<std::mutex>& lock);

    const Clock& clock_;
    const RunGroup run_;
    std::mutex mutex_;
    std::deque<Part*> waiting_;  // guarded by mutex_
    Part* leader_ = nullptr;     // guarded by mutex_; runs a group or waits for company
    std::size_t company_ = 1;    // guarded by mutex_; of the last group
    Duration last_took_{};       // guarded by mutex_
};

}  // namespace ksana::store_postgres
