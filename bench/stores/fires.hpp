#pragma once

#include <cstddef>
#include <string>

#include "ksana/store/store.hpp"

namespace ksana::bench {

// Does what the engine does with a store for jobs that fire every second, with their phases spread
// evenly: plans due jobs, stores their runs as started, and reports their end. `store` must outlive
// it. One thread. Every error aborts.
class FireBench {
  public:
    // Creates the jobs.
    explicit FireBench(store::Store& store);

    void Run(std::size_t fires);

  private:
    store::Store& store_;
    TimePoint now_;
};

// Returns the CPU seconds that the threads of this process with that name have used.
double CpuOfThread(const std::string& name);

}  // namespace ksana::bench
