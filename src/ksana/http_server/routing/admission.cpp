#include "ksana/http_server/routing/admission.hpp"

#include "ksana/base/error/check.hpp"

namespace ksana::http_server {

bool Admission::Enter(const std::string& address) {
    const MutexLock lock(mutex_);
    if (open_ >= total_) return false;
    const auto found = by_address_.find(address);
    const std::size_t there = found == by_address_.end() ? 0 : found->second;
    if (there >= per_address_) return false;
    ++by_address_[address];
    ++open_;
    return true;
}

void Admission::Leave(const std::string& address) {
    const MutexLock lock(mutex_);
    const auto found = by_address_.find(address);
    KSANA_CHECK(found != by_address_.end() && open_ > 0, "a connection left that never came");
    --open_;
    if (--found->second == 0) by_address_.erase(found);
}

}  // namespace ksana::http_server
