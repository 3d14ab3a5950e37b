#pragma once

#include <cstdint>
#include <string>

namespace ksana {

// Hears of every run of a scheduler. All members are optional to override. Times are UTC epoch
// milliseconds, durations milliseconds. The calls come on the scheduler's threads, those of one job
// one after the other, those of several jobs at the same time. What a listener throws is logged and
// otherwise ignored.
class JobExecutionListener {
  public:
    virtual ~JobExecutionListener() = default;

    virtual void OnStart(const std::string& id, std::int64_t fire_time);
    virtual void OnSuccess(const std::string& id, std::int64_t fire_time, std::int64_t duration_ms);
    virtual void OnFailure(const std::string& id, std::int64_t fire_time, std::int64_t duration_ms,
                           const std::string& error);
    // The run did not start: another process has the lock or ran this fire before, or an earlier
    // run of the job was not over.
    virtual void OnSkipped(const std::string& id, std::int64_t fire_time);
};

}  // namespace ksana
