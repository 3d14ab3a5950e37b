#pragma once

#include <optional>
#include <span>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/store/run_store.hpp"
#include "ksana/store_kit/driver/backend.hpp"
#include "ksana/store_kit/runs/run_changes.hpp"

namespace ksana::store_kit {

// RunStore::Exchange, of one caller or of several at a time: the reports of all, each on what the
// one before it left, then the claims of all in their order; those that follow each other and want
// the same are one question, and who came first is served first.
class ExchangeWrite final : public SharedWrite {
  public:
    // Both must outlive this.
    ExchangeWrite(const store::ExchangeParams& params, UuidGenerator& ids)
        : params_(params), ids_(ids) {}

    Result<void> DoAll(Transaction& tx, std::span<SharedWrite* const> all) override;
    std::size_t weight() const override;

    store::Exchanged& made() { return made_; }

  private:
    using Calls = std::vector<ExchangeWrite*>;
    static Result<void> ApplyEvents(Transaction& tx, RunChanges& changes, const Calls& calls,
                                    const store::FollowUp& for_all);
    static Result<void> KeepAudits(Transaction& tx, TimePoint now, const Calls& calls);

    const store::ExchangeParams& params_;
    UuidGenerator& ids_;
    store::Exchanged made_;
};

// Ends attempts without a live owner, and lets go of runs that wait for nobody.
Result<store::Reaped> ReapRuns(Transaction& tx, RunChanges& changes,
                               const store::ReapParams& params);

}  // namespace ksana::store_kit
