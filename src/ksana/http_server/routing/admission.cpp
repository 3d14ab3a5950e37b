#include "ksana/http_server/routing/admission.hpp"

#include "ksana/base/error/check.hpp"

namespace ksana::http_server {

bool Admission::Enter(const ConnectionPlace& place) {
    const MutexLock lock(mutex_);
    if (place.reserved) {
        if (reserved_ >= limits_.reserved) return false;
        ++reserved_;
        return true;
    }
    if (open_ >= limits_.total || OpenAt(place.address) >= limits_.per_address) return false;
    ++by_address_[place.address];
    ++open_;
    return true;
}

void Admission::Leave(const ConnectionPlace& place) {
    const MutexLock lock(mutex_);
    if (place.reserved) {
        KSANA_CHECK(reserved_ > 0, "a reserved connection left that never came");
        --reserved_;
        return;
    }
    const auto found = by_address_.find(place.address);
    KSANA_CHECK(found != by_address_.end() && open_ > 0, "a connection left that never came");
    --open_;
    if (--found->second == 0) by_address_.erase(found);
}

bool Admission::IsFull(const std::string& address) const {
    const MutexLock lock(mutex_);
    return OpenAt(address) >= limits_.per_address;
}

std::size_t Admission::OpenAt(const std::string& address) const {
    const auto found = by_address_.find(address);
    return found == by_address_.end() ? 0 : found->second;
}

}  // namespace ksana::http_server
