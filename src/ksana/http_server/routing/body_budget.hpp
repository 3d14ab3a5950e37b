#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace ksana::http_server {

// Bodies up to this size count as small. Larger ones are read as they arrive.
inline constexpr std::size_t kSmallBody = std::size_t{64} * 1024;

// The memory for the bodies of all requests of a server that are being read or handled. Large
// bodies share `total`. Small ones may use a quarter more, so that a few large bodies that arrive
// slowly do not shut out all other requests. Thread-safe.
class BodyBudget {
  public:
    explicit BodyBudget(std::size_t total) : total_(total) {}

    // Takes `bytes`, or nothing if there is too little room.
    bool Take(std::size_t bytes, bool small);
    void Give(std::size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

    std::size_t used() const { return used_.load(std::memory_order_relaxed); }

  private:
    const std::size_t total_;
    std::atomic<std::size_t> used_{0};
};

// What one body has taken of the budget, and gives back at its end. Goes with the request from the
// connection to the handler, and may outlive the server. One thread at a time.
class BodyRoom {
  public:
    BodyRoom(std::shared_ptr<BodyBudget> budget, bool small)
        : budget_(std::move(budget)), small_(small) {}
    BodyRoom(const BodyRoom&) = delete;
    BodyRoom& operator=(const BodyRoom&) = delete;
    ~BodyRoom() { budget_->Give(taken_); }

    // Takes `bytes` more. Returns false if there is too little room.
    bool Grow(std::size_t bytes);

  private:
    const std::shared_ptr<BodyBudget> budget_;
    const bool small_;
    std::size_t taken_ = 0;
};

}  // namespace ksana::http_server
