#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace ksana::store_postgres {

// Whether a statement waits for rows that others have locked, or fails (SQLSTATE 55P03).
enum class Patience : std::uint8_t { kWait, kNoWait };

inline constexpr std::string_view kRowIsLocked = "55P03";

// Keeps the locks of transactions from standing in a circle: jobs (rows of job_state) come before
// runs, and whoever has taken them otherwise does not wait (docs/decisions/0013).
//
// - For jobs a transaction waits while it has locked nothing at all: it takes them by id.
// - For runs it waits while it holds their jobs, and nothing that was taken out of turn: the runs
//   of a claim, of a reaper, and keys, which are found before their jobs are known.
// - In all other cases it does not wait. It is rolled back when the row is locked, and run again
//   with the jobs that it asked for locked first.
//
// So nobody waits for somebody who waits: who holds a run out of turn never does, and any other
// holder of a run has its job, for which the first would wait already. One thread at a time.
class LockOrder {
  public:
    using Jobs = std::set<std::string>;

    // `first` are locked already, before all else.
    explicit LockOrder(const Jobs& first) : any_(!first.empty()), asked_(first) {}

    template <class Ids>
    Patience ForJobs(const Ids& ids) {
        asked_.insert(ids.begin(), ids.end());
        return NextJobs();
    }
    // Of jobs whose names are not known yet; NoteHeld tells them.
    Patience NextJobs() {
        const bool wait = !any_;
        any_ = true;
        return wait ? Patience::kWait : Patience::kNoWait;
    }
    // Runs whose jobs are locked.
    Patience ForRuns() {
        any_ = true;
        return loose_ ? Patience::kNoWait : Patience::kWait;
    }
    // Runs by their ids, in that order; a second time they would be out of it.
    Patience ForRunsById() {
        const Patience patience = by_id_ ? Patience::kNoWait : ForRuns();
        by_id_ = true;
        return patience;
    }
    void NoteOutOfTurn() { any_ = loose_ = true; }

    void NoteHeld(const std::string& job_id) {
        any_ = true;
        asked_.insert(job_id);
        held_.insert(job_id);
    }
    bool Holds(const std::string& job_id) const { return held_.contains(job_id); }

    // What the next try is to lock first.
    const Jobs& asked() const { return asked_; }

  private:
    bool any_;
    bool loose_ = false;
    bool by_id_ = false;
    Jobs asked_;
    Jobs held_;
};

}  // namespace ksana::store_postgres
