#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/store_postgres/wire/bell.hpp"
#include "ksana/store_postgres/wire/deadline.hpp"
#include "ksana/store_postgres/wire/fault.hpp"

namespace ksana::store_postgres {

// Lets callers that come at the same time share a transaction: whoever finds no other at it does
// the work of all who wait, the rest wait for it. A group is what came while the one before was
// under way. Its members, all told at once, often come back together: the next leader gives them a
// small part of the time that group took, else the first to return would go alone. A caller without
// company does not wait. Thread-safe.
template <class Work>
class Gatherer {
  public:
    // One caller's part of a group. Lives on its stack, which it leaves when its bell has rung.
    struct Part {
        Work& work;
        const Deadline& deadline;
        const std::size_t weight;
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

    // What a group weighs at most, unless it is one caller alone.
    Gatherer(const Clock& clock, std::size_t most_weight, Prepare prepare, RunGroup run)
        : clock_(clock),
          most_weight_(most_weight),
          prepare_(std::move(prepare)),
          run_(std::move(run)) {}

    Result<void> Do(Work& work, const Deadline& deadline, std::size_t weight = 1);

  private:
    static constexpr int kPatience = 4;  // waits for company: this part of the last group's time
    // One slow group is no reason to let the next one wait.
    static constexpr Duration kMaxTook = std::chrono::milliseconds(20);

    // Nobody else is to be expected, or there would be no room.
    bool Complete() const KSANA_REQUIRES(mutex_) {
        return waiting_.size() >= company_ || weight_ >= most_weight_;
    }
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
    const std::size_t most_weight_;
    const Prepare prepare_;
    const RunGroup run_;
    Mutex mutex_;
    std::deque<Part*> waiting_ KSANA_GUARDED_BY(mutex_);  // the leader, too, until it has gathered
    std::size_t weight_ KSANA_GUARDED_BY(mutex_) = 0;     // of those who wait
    Part* leader_ KSANA_GUARDED_BY(mutex_) = nullptr;
    bool gathering_ KSANA_GUARDED_BY(mutex_) = false;  // the leader wants to be told of its company
    std::size_t company_ KSANA_GUARDED_BY(mutex_) = 1;  // callers that there were lately
    Duration last_took_ KSANA_GUARDED_BY(mutex_){};
};

template <class Work>
Result<void> Gatherer<Work>::Do(Work& work, const Deadline& deadline, std::size_t weight) {
    Part part{.work = work, .deadline = deadline, .weight = weight, .result = {}};
    if (Join(part)) {
        Lead(part);
        return std::move(part.result);
    }
    if (!part.bell.AwaitUntil(deadline.at())) {
        if (Leave(part)) return DeadlineFault("the calls before this one did not end").error;
        part.bell.Await();  // a group keeps to the earliest deadline
    }
    if (part.leads) Lead(part);
    return std::move(part.result);
}

// True: nobody leads, so that it has to.
template <class Work>
bool Gatherer<Work>::Join(Part& part) {
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

// False: too late, its bell will ring.
template <class Work>
bool Gatherer<Work>::Leave(Part& part) {
    const MutexLock lock(mutex_);
    if (part.taken || leader_ == &part) return false;
    std::erase(waiting_, &part);
    weight_ -= part.weight;
    return true;
}

// Those who have waited longest.
template <class Work>
typename Gatherer<Work>::Parts Gatherer<Work>::Gather(Part& leader) {
    MutexLock lock(mutex_);
    if (!Complete()) {
        gathering_ = true;
        const Duration patience = last_took_ / kPatience;
        lock.Unlock();
        leader.bell.AwaitUntil(clock_.SteadyNow() + patience);
        lock.Lock();
        gathering_ = false;
    }
    // The leader leads its own group, however many were before it.
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

// Who leads next, if somebody waits: the leader itself, if it is not done. What is left of the
// group has waited longest.
template <class Work>
typename Gatherer<Work>::Part* Gatherer<Work>::HandOver(Part& leader, const Led& led) {
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
void Gatherer<Work>::Lead(Part& leader) {
    while (!LeadGroup(leader)) {
    }
}

// False: the leader is not done. The next leader is woken first: it starts while the others of this
// group are told.
template <class Work>
bool Gatherer<Work>::LeadGroup(Part& leader) {
    if (prepare_) prepare_(leader.deadline);
    Led led{.parts = Gather(leader), .rest = {}, .took = {}};
    const SteadyPoint start = clock_.SteadyNow();
    led.rest = run_(led.parts);
    led.took = std::chrono::duration_cast<Duration>(clock_.SteadyNow() - start);
    // Who was given back is another's from here on.
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
