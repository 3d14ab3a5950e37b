#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "ksana/base/process/mutex.hpp"

namespace ksana::http_server {

// Counts open connections, in all and by address, against their limits. Thread-safe.
class Admission {
  public:
    Admission(std::size_t total, std::size_t per_address)
        : total_(total), per_address_(per_address) {}

    // False: over a limit. Each success is followed by one Leave.
    bool Enter(const std::string& address);
    void Leave(const std::string& address);

  private:
    const std::size_t total_;
    const std::size_t per_address_;
    Mutex mutex_;
    std::size_t open_ KSANA_GUARDED_BY(mutex_) = 0;
    std::unordered_map<std::string, std::size_t> by_address_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::http_server
