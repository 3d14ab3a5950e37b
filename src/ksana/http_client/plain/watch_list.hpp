#pragma once

#include <cstdint>
#include <vector>

#include "ksana/http_client/plain/name_memory.hpp"

namespace ksana::http_client {

// The sockets that libcurl wants watched, as epoll knows them. libcurl forgets a connection's
// socket after each answer and wants it again with the next call; it stays in epoll in between,
// which spares two system calls a call. Used by the client's thread only.
class WatchList {
  public:
    explicit WatchList(int epoll_fd) : epoll_fd_(epoll_fd) {}

    // A socket was made, or is about to be closed. Only those may be left in epoll while nobody
    // wants them: of other descriptors we do not hear when their number gets a new meaning.
    void Opened(int fd, const Target& target);
    void Closing(int fd);

    // Epoll's event bits; 0: nobody wants it.
    void Want(int fd, std::uint32_t events);

    // Whether somebody wants the event. One that nobody wants leaves epoll for now, or it would
    // come again and again: the other side has closed a connection that idles.
    bool OnEvent(int fd);

    // Sockets that were made and are not closed: all, and those that lead there.
    std::size_t open() const { return open_; }
    std::size_t OpenTo(const Target& target) const;

  private:
    struct Watch {
        bool ours = false;         // made through Opened, not closed
        bool registered = false;   // epoll has it
        std::uint32_t events = 0;  // as epoll has it
        std::uint32_t wanted = 0;
        Target target;  // where it is ours
    };

    Watch& At(int fd);
    void Register(int fd, Watch& watch, std::uint32_t events);
    void Remove(int fd, Watch& watch);

    const int epoll_fd_;
    std::vector<Watch> watches_;  // by descriptor
    std::size_t open_ = 0;
};

}  // namespace ksana::http_client
