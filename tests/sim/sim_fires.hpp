#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/model/job/job.hpp"
#include "ksana/model/job/plan.hpp"
#include "ksana/schedule/schedule.hpp"
#include "ksana/store/store.hpp"
#include "sim/sim_backend.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

// Keeps an independent account of the fires of every job, over all its definitions and pauses, by
// walking each schedule from fire to fire, and checks every commit against it (I1, I2, I16, and I3
// for jobs). Runs on the world's thread; reports violations to the world.
class FireChecks {
  public:
    FireChecks(World& world, schedule::ZoneDatabase& zones) : world_(world), zones_(zones) {}

    void OnCommit(const Commit& commit);

    // A caller was told that the job exists at this version.
    void Acknowledged(const model::Job& job);
    // A caller wants this job deleted: from now on it may disappear.
    void MayGo(const std::string& id) { may_go_.insert(id); }

    const model::Job* Find(const std::string& id) const;
    std::vector<std::string> Ids() const;

    // Checks that the store holds what was committed.
    void CompareWith(store::Store& store);
    // Checks that every fire up to `due` is accounted for.
    void CheckPlannedUpTo(TimePoint due);

    std::int64_t fires() const { return fires_; }

  private:
    struct Book {
        model::Job job;
        schedule::Schedule schedule;
        std::set<TimePoint> ran;  // nominal times that have a run
        std::vector<schedule::FireRange> ranges;
        std::size_t entries = 0;
    };
    // What one commit changes about a job.
    struct Touched {
        const model::Job* inserted = nullptr;
        const model::Job* updated = nullptr;
        const Commit::JobPlanned* planned = nullptr;
        std::set<TimePoint> runs;
        std::vector<model::LedgerRange> ranges;
    };
    struct Due {
        TimePoint nominal;
        bool paused = false;
        bool late = false;
        model::MisfirePolicy policy{};
    };

    void Fail(std::string_view invariant, const std::string& job_id, std::string what);
    schedule::Schedule Compile(const model::Job& job);
    void Insert(const model::Job& job, const Touched& touched);
    void Update(const model::Job& job, const Touched& touched);
    void Planned(const Commit::JobPlanned& planned, const Touched& touched);
    void Followed(Book& book, const Commit::JobPlanned& planned, const Touched& touched);
    void Delete(const std::string& id);
    void AddDue(std::vector<Due>& due, const Book& book, TimePoint after, TimePoint until,
                TimePoint now) const;
    static bool IsCovered(const Book& book, TimePoint nominal);
    void Account(Book& book, const std::vector<Due>& due, const Touched& touched);
    void AccountOne(const Book& book, const Due& fire, const Touched& touched);
    void CheckNext(const Book& book);

    World& world_;
    schedule::ZoneDatabase& zones_;
    std::map<std::string, Book> books_;
    std::set<std::string> may_go_;
    std::set<std::string> gone_;
    std::int64_t fires_ = 0;
};

}  // namespace ksana::sim
