#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ksana/engine/observer.hpp"
#include "ksana/store/store.hpp"
#include "sim/sim_backend.hpp"
#include "sim/sim_target.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

// Follows every run through every commit (I4 to I8), and checks what nodes and users were told
// against what was committed (I3). Runs on the world's thread; reports violations to the world.
class RunChecks final : public engine::Observer {
  public:
    using IsAlive = std::function<bool(const std::string& owner)>;

    // `alive` returns whether the node life with this owner name still runs.
    RunChecks(World& world, const Targets& targets, IsAlive alive)
        : world_(world), targets_(targets), alive_(std::move(alive)) {}

    void OnCommit(const Commit& commit);

    // A node was told the outcome of its report.
    void Ended(const engine::AttemptEnd& end) override;
    // A caller was told that the run exists, or that it will stop.
    void Submitted(const Uuid& id);
    void CancelTaken(const Uuid& id);

    // A caller is about to request the cancellation.
    void CancelWanted(const Uuid& id) { cancels_.insert(id); }
    bool IsCancelWanted(const Uuid& id) const { return cancels_.contains(id); }
    // Returns whether a run that ended then may have been purged.
    bool MayBePurged(TimePoint finished_at) const {
        return purged_before_ && finished_at < *purged_before_;
    }
    // Returns null if there never was such a run.
    const model::Run* Find(const Uuid& id) const;

    // All faults have ended: runs created from now on must start on time.
    void ExpectPunctual(TimePoint from) { punctual_from_ = from; }

    // Checks that the store holds what was committed.
    void CompareWith(store::Store& store);
    // Checks that no run that was created and ready before then is unfinished.
    void CheckFinal(TimePoint before);

    const std::set<Uuid>& unfinished() const { return unfinished_; }
    std::int64_t runs() const { return static_cast<std::int64_t>(books_.size()); }
    std::int64_t attempts() const { return attempts_; }
    std::int64_t lost() const { return lost_; }
    std::int64_t released() const { return released_; }
    std::int64_t deferred() const { return deferred_; }

  private:
    struct Book {
        model::Run run;
        std::set<std::string> exec_ids;
        bool waited = false;  // for another run of its job
        bool gone = false;    // purged, or not kept because of its run_log
    };

    void Fail(std::string_view invariant, const model::Run& run, std::string what);
    void Change(const model::Run& run, bool inserted);
    void CheckStep(const Book& book, const model::Run& after);
    void CheckStart(Book& book, const model::Run& after);
    void CheckPunctual(const Book& book, const model::Run& after);
    void CheckOverlap(const model::Run& run);
    void CheckEnd(const model::Run& before, const model::Run& after);
    void CheckRetry(const model::Run& before, const model::Run& after);
    void Forget(const Uuid& id);

    World& world_;
    const Targets& targets_;
    const IsAlive alive_;
    std::unordered_map<Uuid, Book, UuidHash> books_;
    std::map<std::string, std::set<Uuid>> under_way_;  // by job
    std::map<std::string, model::EventKind> ended_;  // by exec_id: the event that ended the attempt
    std::set<Uuid> unfinished_;
    std::set<Uuid> cancels_;
    std::set<Uuid> first_starts_;  // in this commit
    std::optional<TimePoint> purged_before_;
    TimePoint punctual_from_ = TimePoint::max();
    std::int64_t attempts_ = 0;
    std::int64_t lost_ = 0;
    std::int64_t released_ = 0;
    std::int64_t deferred_ = 0;
};

}  // namespace ksana::sim
