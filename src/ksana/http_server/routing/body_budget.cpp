#include "ksana/http_server/routing/body_budget.hpp"

namespace ksana::http_server {

bool BodyBudget::Take(std::size_t bytes, bool small) {
    const std::size_t limit = small ? total_ + total_ / 4 : total_;
    std::size_t used = used_.load(std::memory_order_relaxed);
    do {
        if (used > limit || bytes > limit - used) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
}

bool BodyRoom::Grow(std::size_t bytes) {
    if (!budget_->Take(bytes, small_)) return false;
    taken_ += bytes;
    return true;
}

}  // namespace ksana::http_server
