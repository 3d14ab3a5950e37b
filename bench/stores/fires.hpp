#pragma once

#include <cstddef>
#include <string>

#include "ksana/store/store.hpp"

namespace ksana::bench {

// What the engine has a store do for jobs that fire every second, their phases spread over it: due
// jobs are planned, their runs stored as started, and what was started before is reported.
class FireBench {
  public:
    // Makes the jobs.
    explicit FireBench(store::Store& store);

    void Run(std::size_t fires);

  private:
    store::Store& store_;
    TimePoint now_;
};

// Seconds of processor time that the threads of this process with that name have had so far.
double CpuOfThread(const std::string& name);

}  // namespace ksana::bench
