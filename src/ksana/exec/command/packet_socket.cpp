#include "ksana/exec/command/packet_socket.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace ksana::exec {
namespace {

// Room for one descriptor beside a message.
struct alignas(cmsghdr) Control {
    std::array<char, CMSG_SPACE(sizeof(int))> bytes{};
};

}  // namespace

ReceivedPacket ReceivePacket(int socket, std::string& buffer) {
    Control control;
    iovec piece{.iov_base = buffer.data(), .iov_len = buffer.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    ReceivedPacket received;
    received.size = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    received.error = received.size < 0 ? errno : 0;
    const cmsghdr* const header = received.size > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
        std::memcpy(&received.descriptor, CMSG_DATA(header), sizeof(int));
    }
    return received;
}

int SendPacket(int socket, std::string_view packet, int descriptor) {
    Control control;
    std::string bytes(packet);  // sendmsg wants them changeable
    iovec piece{.iov_base = bytes.data(), .iov_len = bytes.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
        message.msg_control = control.bytes.data();
        message.msg_controllen = control.bytes.size();
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    }
    return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
}

}  // namespace ksana::exec
