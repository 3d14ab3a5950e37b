#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

// Packets of a SOCK_SEQPACKET socket, each with a descriptor or none.

namespace ksana::exec {

struct ReceivedPacket {
    ssize_t size = 0;     // 0: the other end is closed; -1: see `error`
    int error = 0;        // EAGAIN: there is none
    int descriptor = -1;  // owned by the receiver; -1: none
};

// Receives a packet into `buffer`, which has room for the longest, without waiting.
ReceivedPacket ReceivePacket(int socket, std::string& buffer);

// Sends a packet without waiting. `descriptor` -1: none. Returns 0, or the errno; EAGAIN: there is
// no room now.
int SendPacket(int socket, std::string_view packet, int descriptor);

}  // namespace ksana::exec
