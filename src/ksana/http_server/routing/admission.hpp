#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "ksana/base/process/mutex.hpp"

namespace ksana::http_server {

// Limits the number of open connections, in total and per address. Owned by Network. Thread-safe.
class Admission {
  public:
    Admission(std::size_t total, std::size_t per_address)
        : total_(total), per_address_(per_address) {}

    // Enter counts a connection, or returns false if a limit is reached. Each success must be
    // followed by one Leave.
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
