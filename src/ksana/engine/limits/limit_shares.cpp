#include "ksana/engine/limits/limit_shares.hpp"

#include <algorithm>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/codec/records/limit_share_codec.hpp"
#include "ksana/engine/limits/limit_source.hpp"
#include "ksana/store/page.hpp"

namespace ksana::engine {
namespace {

// The shortest time between two passes.
constexpr Duration kBetweenPasses = std::chrono::milliseconds(100);
constexpr Duration kRenewAfter = kShareLease / 3;
// The node stops using a share a little before the others may take it, as clocks differ in speed.
constexpr Duration kOwnLease = kShareLease * 9 / 10;
// How often a pass tries again because another node wrote first.
constexpr int kTries = 3;
// How long a document is kept after everything in it has ended.
constexpr Duration kKept = std::chrono::hours(1);

const model::NodeShare* FindShare(const model::ShareBook& book, const std::string& owner) {
    const auto found = std::ranges::find(book.nodes, owner, &model::NodeShare::owner);
    return found == book.nodes.end() ? nullptr : &*found;
}

bool IsUnmet(const model::NodeShare& share) {
    return share.places.wanted > share.places.held || share.starts.wanted > share.starts.held;
}

TimePoint EndOf(const model::ShareBook& book, TimePoint end) {
    for (const model::NodeShare& node : book.nodes) end = std::max(end, node.until);
    for (const model::CoolingStarts& one : book.cooling) end = std::max(end, one.until);
    return end;
}

// Whether another write came first, so that the document must be read again.
bool IsOvertaken(const Error& error) {
    return error.code == Code::kConflict || error.code == Code::kAlreadyExists ||
           error.code == Code::kNotFound;
}

}  // namespace

Result<std::map<std::string, StoredShares>> ReadShares(store::Store& store) {
    std::map<std::string, StoredShares> shares;
    store::ListParams params{
        .prefix = std::string(kShareSettings), .limit = store::kMaxPageSize, .cursor = {}};
    do {
        KSANA_TRY(const store::Page<model::Document> page, store.settings().List(params));
        for (const model::Document& document : page.items) {
            auto book = codec::ShareBookFromJson(document.body);
            if (!book) {
                Log(LogLevel::kError, "the shares of a limit cannot be read",
                    {{"setting", document.key}, {"error", book.error().Describe()}});
                continue;
            }
            shares.emplace(document.key.substr(kShareSettings.size()),
                           StoredShares{.book = *std::move(book), .version = document.version});
        }
        params.cursor = page.next;
    } while (!params.cursor.empty() && shares.size() < kMaxLimits);
    return shares;
}

bool LimitShares::Hint() {
    if (storing_) return false;
    changed_ = true;
    return concerned_;
}

SteadyPoint LimitShares::RenewAt(const std::string& key) const {
    const auto stored = stored_at_.find(key);
    return stored == stored_at_.end() ? SteadyPoint::min() : stored->second + kRenewAfter;
}

bool LimitShares::IsDue(const std::vector<LimitTracker::Shared>& uses, SteadyPoint now) const {
    return changed_ || unfinished_ || std::ranges::any_of(uses, [&](const auto& use) {
               return use.asks || RenewAt(use.key) <= now;
           });
}

Result<Step> LimitShares::RunOnce() {
    const SteadyPoint now = clock_.SteadyNow();
    const std::vector<LimitTracker::Shared> uses = limits_.SharedLimits(now);
    concerned_ = !uses.empty();
    Step step;
    if (uses.empty()) {
        stored_at_.clear();
        changed_ = unfinished_ = false;
        return step;
    }
    if (!IsDue(uses, now) ||
        (passed_at_ != SteadyPoint::min() && now < passed_at_ + kBetweenPasses)) {
        for (const auto& use : uses) {
            const SteadyPoint next =
                IsDue(uses, now) ? passed_at_ + kBetweenPasses : RenewAt(use.key);
            step.NotAfter(std::chrono::ceil<Duration>(next - now));
        }
        return step;
    }
    passed_at_ = now;
    changed_ = false;
    unfinished_ = true;
    KSANA_TRY(Pass pass, Begin());
    Result<void> settled;
    for (const LimitTracker::Shared& use : uses) {
        settled = Settle(use, pass);
        if (!settled) break;
    }
    if (pass.grown) {
        options_.grown();
        limits_.TellRoom();
    }
    if (!settled) return settled.error();
    unfinished_ = false;
    pass.step.NotAfter(kRenewAfter);
    return pass.step;
}

// The time is asked for first: what is known of the others is newer than it.
Result<LimitShares::Pass> LimitShares::Begin() {
    Pass pass;
    pass.time.steady = clock_.SteadyNow();
    KSANA_TRY(pass.time.store, store_.Now());
    KSANA_TRY(pass.stored, ReadShares(store_));
    pass.waiting = options_.waiting();
    return pass;
}

bool LimitShares::MustStore(const std::string& key, const model::ShareOutcome& outcome,
                            const StoredShares& before) const {
    if (RenewAt(key) <= clock_.SteadyNow()) return true;
    const model::NodeShare* const was = FindShare(before.book, options_.owner);
    const model::NodeShare* const is = FindShare(outcome.book, options_.owner);
    if (was == nullptr || is == nullptr) return was != is;
    return was->places.held != is->places.held || was->starts.held != is->starts.held ||
           IsUnmet(*was) != IsUnmet(*is);
}

// Returns false if another node wrote first.
Result<bool> LimitShares::TryToStore(const std::string& key, const model::ShareOutcome& outcome,
                                     std::int64_t version, TimePoint now) {
    const store::Topics told =
        outcome.concerns_others ? store::Topics(store::Topic::kShares) : store::Topics();
    storing_ = true;
    const auto put = store_.settings().Put({.key = std::string(kShareSettings) + key,
                                            .value = codec::ShareBookToJson(outcome.book),
                                            .expected = version,
                                            .expires_at = EndOf(outcome.book, now) + kKept,
                                            .audit = {},
                                            .topics = told});
    storing_ = false;
    if (put) return true;
    if (IsOvertaken(put.error())) return false;
    return put.error();
}

// Stores the share of one limit, if it must be stored, and lets the node use it.
Result<void> LimitShares::Settle(const LimitTracker::Shared& use, Pass& pass) {
    model::ShareRequest request{.owner = options_.owner};
    request.waiting = static_cast<std::int64_t>(pass.waiting[use.key] + use.agents_wait);
    const auto stored = stored_at_.find(use.key);
    const bool idle = use.in_use == 0 && request.waiting == 0 && stored != stored_at_.end() &&
                      use.touched < stored->second && RenewAt(use.key) <= clock_.SteadyNow();
    request.leave = pass.all_leave || idle;
    StoredShares before = pass.stored[use.key];
    for (int tries = 0; tries < kTries; ++tries) {
        const auto outcome = limits_.Renegotiate(
            use.key, request, pass.time, clock_.SteadyNow(),
            [&](const model::Limit& limit, const model::ShareRequest& filled) {
                return model::Rebalance(before.book, limit, filled, pass.time.store, kShareLease);
            });
        if (!outcome) return {};
        if (outcome->unmet && !outcome->book.cooling.empty()) {
            pass.step.NotAfter(outcome->book.cooling.front().until - pass.time.store);
        }
        if (!MustStore(use.key, *outcome, before)) return {};
        KSANA_TRY(const bool done, TryToStore(use.key, *outcome, before.version, pass.time.store));
        if (done) {
            const SteadyPoint until =
                request.leave ? SteadyPoint::min() : pass.time.steady + kOwnLease;
            pass.grown |= limits_.Grant(use.key, *outcome, until, clock_.SteadyNow());
            stored_at_[use.key] = pass.time.steady;
            if (request.leave) stored_at_.erase(use.key);
            return {};
        }
        auto there = store_.settings().Get(std::string(kShareSettings) + use.key);
        if (!there && there.error().code != Code::kNotFound) return there.error();
        before = {};
        if (!there) continue;
        before.version = there->version;
        auto book = codec::ShareBookFromJson(there->body);
        if (!book) return {};  // logged when all were read; nothing starts under this limit
        before.book = *std::move(book);
    }
    pass.step.NotAfter(kBetweenPasses);
    changed_ = true;
    return {};
}

void LimitShares::Leave() {
    const auto uses = limits_.SharedLimits(clock_.SteadyNow());
    if (uses.empty()) return;
    auto pass = Begin();
    if (!pass) return;
    pass->all_leave = true;
    for (const LimitTracker::Shared& use : uses) {
        if (use.in_use > 0) continue;  // an attempt did not stop: its place ends with the share
        if (!Settle(use, *pass)) return;
    }
}

}  // namespace ksana::engine
