#pragma once

#include <optional>
#include <vector>

#include "ksana/store_postgres/rows/postgres_transaction.hpp"

namespace ksana::store_postgres {

// One body's part in a transaction that it shares: its runs are only noted, and said to be
// inserted. The group inserts those of all bodies at once and, should one not be new, starts again
// without that body.
class GatheredTransaction final : public PostgresTransaction {
  public:
    GatheredTransaction(const PostgresTransaction& whole, std::optional<TimePoint> now)
        : PostgresTransaction(whole), now_(now) {}

    Result<TimePoint> Now() override {
        if (now_) return *now_;
        return PostgresTransaction::Now();
    }

    Result<std::vector<bool>> InsertRuns(const store_kit::RunRefs& runs) override {
        KSANA_TRY_VOID(Note(runs, noted_));
        return std::vector<bool>(runs.size(), true);
    }

    const NewRunRows& noted() const { return noted_; }

  private:
    const std::optional<TimePoint> now_;  // saves asking for it
    NewRunRows noted_;
};

}  // namespace ksana::store_postgres
