#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "ksana/http_client/call.hpp"

namespace ksana::http_client {

// Written by the client's thread, read by any.
struct Counters {
    std::array<std::atomic<std::uint64_t>, kCallErrorCount> by_error{};
    std::atomic<std::uint64_t> connections_made{0};
    std::atomic<std::uint64_t> connections_reused{0};
};

}  // namespace ksana::http_client
