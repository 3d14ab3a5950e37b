#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "ksana/model/job.hpp"

namespace ksana::store_postgres {

// Definitions that were read, by their revision: the number that the database gives every version
// of every job once, so that nothing here is ever outdated. Bounded. Thread-safe.
class JobCache {
  public:
    std::shared_ptr<const model::Job> Find(std::int64_t revision);
    void Remember(std::int64_t revision, model::Job job);

  private:
    static constexpr std::size_t kMaxJobs = 50'000;

    std::mutex mutex_;
    std::unordered_map<std::int64_t, std::shared_ptr<const model::Job>> jobs_;  // guarded by mutex_
};

}  // namespace ksana::store_postgres
