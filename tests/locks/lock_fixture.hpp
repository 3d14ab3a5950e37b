#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "ksana/lock/lock_driver.hpp"

namespace ksana::locks {

// One kind of lock server, for the suite that every driver runs (*_topic.cpp). A driver has one
// file that instantiates LockTest with its kind.
struct LockKind {
    std::string name;
    // Opens a driver on the same server each time, as another process would.
    std::function<std::unique_ptr<lock::LockDriver>()> open;
    // The shortest TTL that the server applies as asked. Tests of expiry use it.
    Duration shortest_ttl = std::chrono::milliseconds(200);
    // Lets that much time pass for the server's clock. Empty: the suite waits for the expiry itself
    // by trying again.
    std::function<void(Duration)> advance;
};

inline void PrintTo(const LockKind& kind, std::ostream* out) { *out << kind.name; }

class LockTest : public ::testing::TestWithParam<LockKind> {
  protected:
    std::unique_ptr<lock::LockDriver> Open() const { return GetParam().open(); }
};

}  // namespace ksana::locks
