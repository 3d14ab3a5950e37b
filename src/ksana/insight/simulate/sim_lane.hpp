#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ksana/base/time/time.hpp"
#include "ksana/insight/simulate/sim_load.hpp"
#include "ksana/insight/simulate/simulation.hpp"
#include "ksana/schedule/schedule.hpp"

namespace ksana::insight {

// Keeps the first few examples of each kind.
class SimExamples {
  public:
    explicit SimExamples(std::size_t most) : most_(most) {}

    void Add(SimExampleKind kind, const std::string& job_id, TimePoint at,
             schedule::DstNote dst = schedule::DstNote::kNone) {
        auto& count = counts_[static_cast<std::size_t>(kind)];
        if (count >= most_) return;
        ++count;
        examples_.push_back({kind, job_id, at, dst});
    }
    std::vector<SimExample> Take();  // sorted by kind, then by time

  private:
    std::size_t most_;
    std::array<std::size_t, model::kEnumCount<SimExampleKind>> counts_{};
    std::vector<SimExample> examples_;
};

// The results that all lanes write to.
struct SimResults {
    LoadMeter load;
    SimExamples examples;
    TimePoint to;
};

// The runs of one job if slots are unlimited, so that jobs do not affect each other. Gets the
// starts in ascending order. model/job/overlap.hpp decides about overlaps. `outcome` and `books`
// must outlive it; for one thread.
class SimLane {
  public:
    SimLane(SimJobOutcome& outcome, SimResults& books)
        : outcome_(&outcome), books_(&books), duration_(outcome.duration) {}

    void Fire(TimePoint at);
    void Finish();  // at the end of the simulated time

  private:
    void Catch(TimePoint at);  // processes the ends of runs up to `at`
    void Start(TimePoint at);
    void End(TimePoint at);

    SimJobOutcome* outcome_;
    SimResults* books_;
    Duration duration_;
    // Under every policy but kAllow one run is active at a time, and the others wait for it.
    bool running_ = false;
    int waiting_ = 0;
    TimePoint began_{};
};

}  // namespace ksana::insight
