#include "ksana/http_client/plain/watch_list.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

#include "ksana/base/error/check.hpp"

namespace ksana::http_client {

WatchList::Watch& WatchList::At(int fd) {
    KSANA_CHECK(fd >= 0, "a negative descriptor");
    const auto index = static_cast<std::size_t>(fd);
    if (index >= watches_.size()) watches_.resize(index + 64);
    return watches_[index];
}

void WatchList::Opened(int fd, const Target& target) {
    At(fd) = Watch{.ours = true, .target = target};
    ++open_;
}

// Closing a descriptor removes it from epoll.
void WatchList::Closing(int fd) {
    if (At(fd).ours) --open_;
    At(fd) = Watch{};
}

std::size_t WatchList::OpenTo(const Target& target) const {
    if (open_ == 0) return 0;
    return static_cast<std::size_t>(std::ranges::count_if(
        watches_, [&target](const Watch& watch) { return watch.ours && watch.target == target; }));
}

void WatchList::Want(int fd, std::uint32_t events) {
    Watch& watch = At(fd);
    watch.wanted = events;
    if (events == 0) {
        if (!watch.ours) Remove(fd, watch);
        return;
    }
    if (!watch.registered || watch.events != events) Register(fd, watch, events);
}

bool WatchList::OnEvent(int fd) {
    Watch& watch = At(fd);
    if (watch.wanted != 0) return true;
    Remove(fd, watch);
    return false;
}

void WatchList::Register(int fd, Watch& watch, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    const int first = watch.registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(epoll_fd_, first, fd, &event) != 0) {
        // `registered` was wrong: try the other operation.
        const int second = errno == EEXIST ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
        if (epoll_ctl(epoll_fd_, second, fd, &event) != 0) return;  // its call will time out
    }
    watch.registered = true;
    watch.events = events;
}

void WatchList::Remove(int fd, Watch& watch) {
    if (watch.registered) epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
    watch.registered = false;
    watch.events = 0;
}

}  // namespace ksana::http_client
