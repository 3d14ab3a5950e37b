#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace ksana::store_postgres {

// Whether a statement waits for rows that other transactions have locked, or fails (SQLSTATE
// 55P03).
enum class LockWait : std::uint8_t { kWait, kNoWait };

inline constexpr std::string_view kRowIsLocked = "55P03";

// Decides whether a transaction may wait for a lock, so that transactions cannot deadlock: jobs
// (rows of job_state) are locked before runs, and a transaction that has locked them in another
// order does not wait (docs/decisions/0013).
//
// - For jobs, a transaction waits only while it has locked nothing at all. It locks them in the
//   order of their ids.
// - For runs, it waits only while it holds their jobs and no lock that was taken out of turn: runs
//   found by a claim or the reaper, and unique keys, which are found before their jobs are known.
// - In all other cases it does not wait. If the row is locked, the transaction is rolled back and
//   run again, with the jobs that it asked for locked first.
//
// So there is no cycle: a transaction that holds a run out of turn never waits, and any other
// holder of a run also holds its job, so a second transaction waits for the job before it asks for
// the run. Part of one transaction; not thread-safe.
class LockOrder {
  public:
    using Jobs = std::set<std::string>;

    // `first`: jobs that the transaction locks before all else.
    explicit LockOrder(const Jobs& first) : any_(!first.empty()), asked_(first) {}

    // Returns whether to wait for these jobs, and remembers them in asked().
    template <class Ids>
    LockWait ForJobs(const Ids& ids) {
        asked_.insert(ids.begin(), ids.end());
        return NextJobs();
    }
    // As ForJobs, for jobs whose ids are not known yet; NoteHeld adds them.
    LockWait NextJobs() {
        const bool wait = !any_;
        any_ = true;
        return wait ? LockWait::kWait : LockWait::kNoWait;
    }
    // Returns whether to wait for runs whose jobs are locked.
    LockWait ForRuns() {
        any_ = true;
        return loose_ ? LockWait::kNoWait : LockWait::kWait;
    }
    // As ForRuns, for runs that are locked in the order of their ids. Waits only the first time, as
    // a second batch would be out of that order.
    LockWait ForRunsById() {
        const LockWait patience = by_id_ ? LockWait::kNoWait : ForRuns();
        by_id_ = true;
        return patience;
    }
    // Records that runs or keys are locked before their jobs.
    void NoteOutOfTurn() { any_ = loose_ = true; }

    // Records that the job is locked.
    void NoteHeld(const std::string& job_id) {
        any_ = true;
        asked_.insert(job_id);
        held_.insert(job_id);
    }
    bool Holds(const std::string& job_id) const { return held_.contains(job_id); }

    // Jobs that the next try has to lock first.
    const Jobs& asked() const { return asked_; }

  private:
    bool any_;            // whether anything is locked
    bool loose_ = false;  // whether anything was locked out of turn
    bool by_id_ = false;  // whether runs were locked by id before
    Jobs asked_;
    Jobs held_;
};

}  // namespace ksana::store_postgres
