#pragma once

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/service.hpp"

namespace ksana::testing {

// Calls Start and Stop from several threads, as base/process/service.hpp allows. Every service is
// tested with this once; the sanitizers report errors.
inline void StressService(Service& service, int threads = 4, int rounds = 200) {
    service.Stop();  // without a Start, Stop does nothing
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
