#pragma once

#include <cstdint>
#include <vector>

#include "ksana/http_client/plain/address_cache.hpp"

namespace ksana::http_client {

// The sockets that libcurl wants watched, and their registration with epoll. libcurl drops its
// interest in a connection's socket after each answer and renews it with the next call. The list
// keeps the socket registered in between, which saves two system calls per call. Owned by
// MultiLoop; client's thread only. A socket that epoll rejects is not watched, and its call times
// out.
class WatchList {
  public:
    explicit WatchList(int epoll_fd) : epoll_fd_(epoll_fd) {}

    // Opened notes a new socket, Closing one about to be closed. Only such sockets may stay in
    // epoll without interest: for other descriptors of libcurl the list does not learn when the
    // number is closed and reused.
    void Opened(int fd, const Target& target);
    void Closing(int fd);

    // Sets libcurl's interest in the descriptor, as epoll event bits. 0: no interest.
    void Want(int fd, std::uint32_t events);

    // Returns whether libcurl wants the event. Without interest (the target closed an idle
    // connection), removes the descriptor from epoll, which would otherwise report the event again
    // and again.
    bool OnEvent(int fd);

    // The number of open sockets that were noted with Opened: all, and those connected to `target`.
    std::size_t open() const { return open_; }
    std::size_t OpenTo(const Target& target) const;

  private:
    struct Watch {
        bool ours = false;         // noted with Opened and not closed
        bool registered = false;   // with epoll
        std::uint32_t events = 0;  // registered with epoll
        std::uint32_t wanted = 0;  // by libcurl
        Target target;             // valid if `ours`
    };

    Watch& At(int fd);
    void Register(int fd, Watch& watch, std::uint32_t events);
    void Remove(int fd, Watch& watch);

    const int epoll_fd_;
    std::vector<Watch> watches_;  // by descriptor
    std::size_t open_ = 0;
};

}  // namespace ksana::http_client
