#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ksana::http_server {

// Totals of a server since it was constructed, for the metrics page. Each number is exact, but a
// reader does not see all of them at one instant. Written by the server's threads; any thread may
// read.
struct Statistics {
    std::atomic<std::uint64_t> connections_open{0};
    std::atomic<std::uint64_t> connections_accepted{0};
    std::atomic<std::uint64_t> connections_refused{0};  // over a limit
    std::atomic<std::uint64_t> connections_cut{0};      // a deadline passed
    std::atomic<std::uint64_t> pool_refused{0};         // requests answered 503: the queue was full
    std::atomic<std::uint64_t> bodies_refused{0};  // requests answered 503: no memory for the body
    // Answers by class: [2] counts statuses 200 to 299; [0] counts statuses outside 100 to 599.
    std::array<std::atomic<std::uint64_t>, 6> answers{};
};

inline void Increment(std::atomic<std::uint64_t>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
}

inline void CountAnswer(Statistics& statistics, int status) {
    const int kind = status / 100;
    Increment(statistics.answers.at(kind >= 1 && kind <= 5 ? static_cast<std::size_t>(kind) : 0));
}

}  // namespace ksana::http_server
