#include "ksana/store_postgres/job_cache.hpp"

namespace ksana::store_postgres {

std::shared_ptr<const model::Job> JobCache::Find(std::int64_t revision) {
    const std::lock_guard lock(mutex_);
    const auto found = jobs_.find(revision);
    return found == jobs_.end() ? nullptr : found->second;
}

// Makes room by forgetting everything: seldom, and read again as needed.
void JobCache::Remember(std::int64_t revision, model::Job job) {
    auto kept = std::make_shared<const model::Job>(std::move(job));
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= kMaxJobs) jobs_.clear();
    jobs_.insert_or_assign(revision, std::move(kept));
}

}  // namespace ksana::store_postgres
