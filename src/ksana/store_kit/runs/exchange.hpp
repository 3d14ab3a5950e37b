#pragma once

#include <optional>
#include <span>

#include "ksana/store/run_store.hpp"
#include "ksana/store_kit/driver/backend.hpp"
#include "ksana/store_kit/runs/run_changes.hpp"

namespace ksana::store_kit {

// RunStore::Exchange for one caller, or for several in one transaction. First applies the events of
// all callers, each on the state that the one before it left; then serves their claims in order.
// Adjacent claims with equal filters become one query, and earlier callers are served first. Owned
// by its caller; DoAll may run on another caller's thread.
class ExchangeWrite final : public SharedWrite {
  public:
    // `params` and `ids` must outlive this object.
    ExchangeWrite(const store::ExchangeParams& params, RunSource& ids)
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
    RunSource& ids_;
    store::Exchanged made_;
};

// Ends attempts whose lease or deadline has expired or whose owner is lost, unblocks runs whose job
// has no run under way, and looks again at runs and joins that wait for other jobs, the joins after
// `join_cursor`, which moves on. Returns the runs it ended.
Result<store::Reaped> ReapRuns(Transaction& tx, RunChanges& changes,
                               const store::ReapParams& params, std::string& join_cursor);

}  // namespace ksana::store_kit
