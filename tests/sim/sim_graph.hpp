#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ksana/model/job/job.hpp"
#include "ksana/model/run/run.hpp"
#include "sim/sim_backend.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

// Follows the edges between jobs through every commit, without the tested code: a fire that depends
// on others goes on only when these allow it, and is not skipped or forgotten when they do; the
// ends of runs make exactly the fires of `after` schedules that they should (I9). Runs on the
// world's thread; reports violations to the world.
class GraphChecks {
  public:
    explicit GraphChecks(World& world) : world_(world) {}

    void OnCommit(const Commit& commit);
    // All faults have ended some time ago: no run waits that could go on or whose wait is over.
    void CheckFinal();

    std::int64_t waits() const { return waits_; }
    std::int64_t follows() const { return follows_; }

  private:
    // What is known of a run that has not been deleted.
    struct Known {
        std::string job_id;
        TimePoint created_at{};
        model::RunState state = model::RunState::kScheduled;
        bool awaits = false;
        bool passed = false;
        std::optional<TimePoint> finished_at;
        std::optional<TimePoint> wait_until;
    };
    struct Ended {
        std::string job_id;
        model::RunState state;
    };

    // Whether a job lets others pass; none: not known, because its runs are not kept, or because
    // their order is not certain.
    using Answer = std::optional<bool>;

    void Fail(const model::Run& run, std::string what);
    void Change(const model::Run& run);
    void Purge(TimePoint before);
    void NoteFree(const Commit& commit, const std::string& parent, std::vector<Answer>& free);
    void CheckPass(const model::Run& run, const Known& before, Answer was_free);
    void CheckSkip(const model::Run& run, const Known& before, Answer was_free);
    Answer MayPass(const std::string& job_id) const;
    Answer Lets(const model::Dependency& one) const;
    bool IsDue(const std::string& job_id) const;
    void ExpectFires(const Commit& commit);
    void Expect(const std::string& child, const Ended& ended, std::map<std::string, int>& expected);

    World& world_;
    std::map<std::string, model::Job> jobs_;
    std::unordered_map<Uuid, Known, UuidHash> runs_;
    std::map<std::string, std::set<Uuid>> of_job_;
    std::set<Uuid> awaiting_;
    std::set<std::string> forgetful_;                       // jobs of which runs have been deleted
    std::map<std::string, std::set<std::string>> arrived_;  // by job with `join: all`
    std::vector<Ended> ended_;                              // in this commit
    std::int64_t waits_ = 0;
    std::int64_t follows_ = 0;
};

}  // namespace ksana::sim
