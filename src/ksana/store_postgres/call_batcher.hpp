#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/store_postgres/wire/bell.hpp"
#include "ksana/store_postgres/wire/names.hpp"

namespace ksana::store_postgres {

// Runs calls that arrive at the same time as one group, in one transaction. The first caller
// becomes the leader and runs the group; the other callers block until the leader has set their
// results. A group consists of the calls that arrived while the previous group was running. Its
// members are woken together and often return together, so the next leader waits up to 1/kPatience
// of the time the last group took; otherwise the first caller to return would run alone. A caller
// without recent company does not wait.
//
// Owned by a lane of PostgresBackend. Thread-safe; all work runs on the threads of the callers.
template <class Work>
class CallBatcher {
  public:
    // One caller's part of a group. Lives on the caller's stack until the caller's bell has rung.
    struct Part {
        Work& work;
        const Deadline& deadline;
        const std::size_t weight;
        Result<void> result;

        bool taken = false;  // into a group; guarded by the batcher's mutex
        // Why the bell rings: to lead the next group (true), or because the part is done.
        bool leads = false;
        Bell bell{};
    };
    using Parts = std::vector<Part*>;
    // Called by the leader before the group is known, to do the work that does not depend on its
    // members.
    using Prepare = std::function<void(const Deadline&)>;
    // Runs a group and sets the result of every part. Must return soon after the earliest deadline
    // of the parts. Returns the parts that are not done and have time left: they join the next
    // group.
    using RunGroup = std::function<Parts(const Parts&)>;

    // `most_weight` is the maximum weight of a group, unless the group is a single caller. `clock`
    // must outlive the batcher.
    CallBatcher(const Clock& clock, std::size_t most_weight, Prepare prepare, RunGroup run)
        : clock_(clock),
          most_weight_(most_weight),
          prepare_(std::move(prepare)),
          run_(std::move(run)) {}

    // Runs `work` in a group and returns its result. Returns kDeadlineExceeded if the deadline
    // passes before a group has taken the work.
    Result<void> Do(Work& work, const Deadline& deadline, std::size_t weight = 1);

  private:
    // The leader waits at most 1/kPatience of the last group's time.
    static constexpr int kPatience = 4;
    // Cap on the last group's time, so that one slow group does not delay the next one.
    static constexpr Duration kMaxTook = std::chrono::milliseconds(20);

    // Returns whether there is no reason to wait longer: all expected callers are here, or the
    // group is full.
    bool Complete() const KSANA_REQUIRES(mutex_) {
        return waiting_.size() >= company_ || weight_ >= most_weight_;
    }
    bool Join(Part& part);
    bool Leave(Part& part);
    void Lead(Part& leader);
    bool LeadGroup(Part& leader);
    Parts Gather(Part& leader);
    struct Led {
        Parts parts;  // those that are done
        Parts rest;   // those that are not done
        Duration took;
    };
    Part* HandOver(Part& leader, const Led& led);

    const Clock& clock_;
    const std::size_t most_weight_;
    const Prepare prepare_;
    const RunGroup run_;
    Mutex mutex_;
    // Includes the leader until it has gathered.
    std::deque<Part*> waiting_ KSANA_GUARDED_BY(mutex_);
    std::size_t weight_ KSANA_GUARDED_BY(mutex_) = 0;  // of the waiting parts
    Part* leader_ KSANA_GUARDED_BY(mutex_) = nullptr;
    // The leader sleeps and wants to be woken when Complete() holds.
    bool gathering_ KSANA_GUARDED_BY(mutex_) = false;
    std::size_t company_ KSANA_GUARDED_BY(mutex_) = 1;  // number of callers seen lately
    Duration last_took_ KSANA_GUARDED_BY(mutex_){};
};

template <class Work>
Result<void> CallBatcher<Work>::Do(Work& work, const Deadline& deadline, std::size_t weight) {
    Part part{.work = work, .deadline = deadline, .weight = weight, .result = {}};
    if (Join(part)) {
        Lead(part);
        return std::move(part.result);
    }
    if (!part.bell.AwaitUntil(deadline.at())) {
        if (Leave(part)) return DeadlineFault("the calls before this one did not end").error;
        part.bell.Await();  // the group that took the part ends soon after the part's deadline
    }
    if (part.leads) Lead(part);
    return std::move(part.result);
}

// Queues the part. Returns true if there is no leader: the caller has to lead.
template <class Work>
bool CallBatcher<Work>::Join(Part& part) {
    const MutexLock lock(mutex_);
    waiting_.push_back(&part);
    weight_ += part.weight;
    if (leader_ == nullptr) {
        leader_ = &part;
        return true;
    }
    if (gathering_ && Complete()) {
        gathering_ = false;
        leader_->bell.Ring();
    }
    return false;
}

// Removes the part from the queue. Returns false if that is too late and the part's bell is going
// to ring.
template <class Work>
bool CallBatcher<Work>::Leave(Part& part) {
    const MutexLock lock(mutex_);
    if (part.taken || leader_ == &part) return false;
    std::erase(waiting_, &part);
    weight_ -= part.weight;
    return true;
}

// Takes the leader and the parts that have waited longest, as far as the weight allows.
template <class Work>
typename CallBatcher<Work>::Parts CallBatcher<Work>::Gather(Part& leader) {
    MutexLock lock(mutex_);
    if (!Complete()) {
        gathering_ = true;
        const Duration patience = last_took_ / kPatience;
        lock.Unlock();
        leader.bell.AwaitUntil(clock_.SteadyNow() + patience);
        lock.Lock();
        gathering_ = false;
    }
    // The leader is part of its own group even if other parts have waited longer.
    std::erase(waiting_, &leader);
    Parts parts = {&leader};
    std::size_t weight = leader.weight;
    while (!waiting_.empty() && weight + waiting_.front()->weight <= most_weight_) {
        weight += waiting_.front()->weight;
        parts.push_back(waiting_.front());
        waiting_.pop_front();
    }
    weight_ -= weight;
    for (Part* part : parts) part->taken = true;
    return parts;
}

// Chooses the next leader: the current leader if its part is not done, otherwise the part that has
// waited longest, or null if none waits. Parts left over from the group go to the front of the
// queue.
template <class Work>
typename CallBatcher<Work>::Part* CallBatcher<Work>::HandOver(Part& leader, const Led& led) {
    const MutexLock lock(mutex_);
    last_took_ = std::min(led.took, kMaxTook);
    for (Part* part : led.rest) {
        part->taken = false;
        weight_ += part->weight;
    }
    waiting_.insert(waiting_.begin(), led.rest.begin(), led.rest.end());
    company_ = std::min(led.parts.size() + waiting_.size(), most_weight_);
    if (std::ranges::find(led.rest, &leader) != led.rest.end()) return leader_;
    leader_ = waiting_.empty() ? nullptr : waiting_.front();
    if (leader_ != nullptr) leader_->leads = true;
    return leader_;
}

template <class Work>
void CallBatcher<Work>::Lead(Part& leader) {
    while (!LeadGroup(leader)) {
    }
}

// Runs one group. Returns false if the leader's own part is not done. Wakes the next leader first,
// so that it starts while the other members of this group are being woken.
template <class Work>
bool CallBatcher<Work>::LeadGroup(Part& leader) {
    if (prepare_) prepare_(leader.deadline);
    Led led{.parts = Gather(leader), .rest = {}, .took = {}};
    const SteadyPoint start = clock_.SteadyNow();
    led.rest = run_(led.parts);
    led.took = std::chrono::duration_cast<Duration>(clock_.SteadyNow() - start);
    // From HandOver on, a part in `rest` may be taken by another leader, so it must not be touched
    // here.
    std::erase_if(led.parts,
                  [&](Part* part) { return std::ranges::find(led.rest, part) != led.rest.end(); });
    Part* const next = HandOver(leader, led);
    if (next != nullptr && next != &leader) next->bell.Ring();
    for (Part* part : led.parts) {
        if (part != &leader) part->bell.Ring();
    }
    return next != &leader;
}

}  // namespace ksana::store_postgres
