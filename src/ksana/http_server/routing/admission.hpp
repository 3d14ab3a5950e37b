#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

#include "ksana/base/process/mutex.hpp"

namespace ksana::http_server {

// The place of an open connection in the counts of Admission.
struct ConnectionPlace {
    std::string address;    // the key of its client's address
    bool reserved = false;  // beyond the limits: for probes only
};

// Limits the number of open connections, in total and per address. A few more are reserved for
// probes, which must be answered while everything else is taken. Owned by Network. Thread-safe.
class Admission {
  public:
    struct Limits {
        std::size_t total = 0;
        std::size_t per_address = 0;
        std::size_t reserved = 0;
    };
    explicit Admission(const Limits& limits) : limits_(limits) {}

    // Counts a connection, or returns false if there is no such place. Each success must be
    // followed by one Leave.
    bool Enter(const ConnectionPlace& place);
    void Leave(const ConnectionPlace& place);

    // Returns whether the address has all the connections that it may have.
    bool IsFull(const std::string& address) const;

  private:
    std::size_t OpenAt(const std::string& address) const KSANA_REQUIRES(mutex_);

    const Limits limits_;
    mutable Mutex mutex_;
    std::size_t open_ KSANA_GUARDED_BY(mutex_) = 0;
    std::size_t reserved_ KSANA_GUARDED_BY(mutex_) = 0;
    std::unordered_map<std::string, std::size_t> by_address_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::http_server
