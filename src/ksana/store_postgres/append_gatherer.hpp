#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "ksana/store_kit/backend.hpp"
#include "ksana/store_postgres/bell.hpp"
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
    // One caller's part of a group. Lives on its stack, which it leaves when its bell has rung.
    struct Part {
        const Body& body;
        const Deadline& deadline;
        Result<void> result;

        bool taken = false;  // into a group; guarded by the gatherer's mutex
        bool leads = false;  // why its bell rings: to lead the next group, or as it is done
        Bell bell{};
    };
    using Parts = std::vector<Part*>;
    // Called before a group is made up, by its leader: what can be done without knowing it.
    using Prepare = std::function<void(const Deadline&)>;
    // Sets the result of every part; must return soon after the earliest of their deadlines. Those
    // it gives back are not done and have time left: they go into the next group.
    using RunGroup = std::function<Parts(const Parts&)>;

    AppendGatherer(const Clock& clock, Prepare prepare, RunGroup run)
        : clock_(clock), prepare_(std::move(prepare)), run_(std::move(run)) {}

    Result<void> Append(const Body& body, const Deadline& deadline);

  private:
    static constexpr std::size_t kMaxGroup = 128;
    static constexpr int kPatience = 4;  // waits for company: this part of the last group's time

    bool Join(Part& part);
    bool Leave(Part& part);
    void Lead(Part& leader);
    bool LeadGroup(Part& leader);
    Parts Gather(Part& leader);
    struct Led {
        Parts parts;  // that are done
        Parts rest;   // that are not
        Duration took;
    };
    Part* HandOver(Part& leader, const Led& led);

    const Clock& clock_;
    const Prepare prepare_;
    const RunGroup run_;
    std::mutex mutex_;
    std::deque<Part*> waiting_;  // guarded by mutex_; the leader, too, until it has gathered
    Part* leader_ = nullptr;     // guarded by mutex_
    bool gathering_ = false;     // guarded by mutex_; the leader wants to be told of its company
    std::size_t company_ = 1;    // guarded by mutex_; callers that there were lately
    Duration last_took_{};       // guarded by mutex_
};

}  // namespace ksana::store_postgres
