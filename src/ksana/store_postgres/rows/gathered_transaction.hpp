#pragma once

#include <optional>
#include <vector>

#include "ksana/store_postgres/rows/postgres_transaction.hpp"

namespace ksana::store_postgres {

// One body's view of a transaction that several bodies share. InsertRuns only collects the runs and
// reports them as inserted. The group then inserts the runs of all bodies at once; if a run exists
// already, the group starts again without that body. Used by the leader's thread of an append
// group.
class BatchedTransaction final : public PostgresTransaction {
  public:
    BatchedTransaction(const PostgresTransaction& whole, std::optional<TimePoint> now)
        : PostgresTransaction(whole), now_(now) {}

    Result<TimePoint> Now() override {
        if (now_) return *now_;
        return PostgresTransaction::Now();
    }

    Result<std::vector<bool>> InsertRuns(const store_kit::RunRefs& runs) override {
        KSANA_TRY_VOID(Note(runs, noted_));
        return std::vector<bool>(runs.size(), true);
    }

    // Returns the runs that the body has inserted.
    const NewRunRows& noted() const { return noted_; }

  private:
    // Estimate of the server's time, which saves a round trip; none: the server is asked.
    const std::optional<TimePoint> now_;
    NewRunRows noted_;
};

}  // namespace ksana::store_postgres
