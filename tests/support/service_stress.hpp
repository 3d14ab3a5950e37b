#pragma once

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/service.hpp"

namespace ksana::testing {

// Hammers Start and Stop from several threads, in the manner the rules of base/process/service.hpp
// allow. Every service runs through this once; the sanitizers say what went wrong.
inline void StressService(Service& service, int threads = 4, int rounds = 200) {
    service.Stop();  // before any start: nothing happens
    {
        std::vector<std::jthread> crowd;
        for (int t = 0; t < threads; ++t) {
            crowd.emplace_back([&service, t, rounds] {
                SeededRandom random(static_cast<std::uint64_t>(t));
                for (int i = 0; i < rounds; ++i) {
                    if (random.Below(2) == 0) {
                        EXPECT_TRUE(service.Start());
                    } else {
                        service.Stop();
                    }
                }
            });
        }
    }
    EXPECT_TRUE(service.Start());
    EXPECT_TRUE(service.Start());
    service.Stop();
    service.Stop();
}

}  // namespace ksana::testing
