#include "ksana/exec/command/guardian_link.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "ksana/exec/command/packet_socket.hpp"

namespace ksana::exec {
namespace {

Error LinkFault(const char* what, int error) {
    return {Code::kExhausted,
            std::string("cannot ") + what + ": " + std::generic_category().message(error)};
}

// The attributes of the guardian's process: a session of its own, so that no signal meant for the
// terminal or the group of this one reaches it, and no signal ignored.
class SpawnSettings {
  public:
    explicit SpawnSettings(int socket) {
        posix_spawn_file_actions_init(&files_);
        posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&files_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&files_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_adddup2(&files_, socket, kGuardianSocket);
        posix_spawnattr_init(&attributes_);
        sigset_t all;
        sigfillset(&all);
        posix_spawnattr_setsigdefault(&attributes_, &all);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
    }
    ~SpawnSettings() {
        posix_spawn_file_actions_destroy(&files_);
        posix_spawnattr_destroy(&attributes_);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;

    const posix_spawn_file_actions_t* files() const { return &files_; }
    const posix_spawnattr_t* attributes() const { return &attributes_; }

  private:
    posix_spawn_file_actions_t files_{};
    posix_spawnattr_t attributes_{};
};

// Starts this program again. It stays the same program even if its file has been replaced.
int StartCopy(int socket, const std::string& folder, const std::string& silence, pid_t& pid) {
    std::string name = GuardianName();
    std::string place = folder;
    std::string quiet = silence;
    const std::array<char*, 4> words = {name.data(), place.data(), quiet.data(), nullptr};
    const SpawnSettings settings(socket);
    return posix_spawn(&pid, "/proc/self/exe", settings.files(), settings.attributes(),
                       words.data(), environ);
}

}  // namespace

Result<void> GuardianLink::Start(const std::string& folder, Duration silence) {
    Stop();
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return LinkFault("make a socket for the guardian of commands", errno);
    }
    // dup2 to the same number would leave the descriptor closed in the guardian.
    const int theirs = fcntl(ends[1], F_DUPFD_CLOEXEC, kGuardianSocket + 1);
    close(ends[1]);
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(silence).count();
    const int error =
        theirs < 0 ? errno : StartCopy(theirs, folder, std::to_string(milliseconds), pid_);
    if (theirs >= 0) close(theirs);
    if (error != 0) {
        close(ends[0]);
        pid_ = -1;
        return LinkFault("start the guardian of commands", error);
    }
    socket_ = ends[0];
    packet_.resize(sizeof(Ending) + 1);
    return {};
}

void GuardianLink::Stop() {
    for (const Unsent& unsent : unsent_) {
        if (unsent.descriptor >= 0) close(unsent.descriptor);
    }
    unsent_.clear();
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
    if (pid_ < 0) return;
    // It ends by itself within its own bound.
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
}

void GuardianLink::Send(const Ask& ask, int descriptor) {
    unsent_.push_back({.packet = Encode(ask), .descriptor = descriptor});
    Flush();
}

// A message that cannot be sent for another reason than room has lost its guardian; Receive tells.
void GuardianLink::Flush() {
    while (!unsent_.empty()) {
        const Unsent& next = unsent_.front();
        if (SendPacket(socket_, next.packet, next.descriptor) == EAGAIN) return;
        if (next.descriptor >= 0) close(next.descriptor);
        unsent_.pop_front();
    }
}

bool GuardianLink::Receive(std::vector<Ending>& endings) {
    for (;;) {
        const ReceivedPacket received = ReceivePacket(socket_, packet_);
        if (received.size < 0) return received.error == EAGAIN || received.error == EINTR;
        if (received.size == 0) return false;
        const auto ending = DecodeEnding(
            std::string_view(packet_).substr(0, static_cast<std::size_t>(received.size)));
        if (ending) endings.push_back(*ending);
    }
}

}  // namespace ksana::exec
