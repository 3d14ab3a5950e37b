#include "apps/ksana/toolkit/end_signals.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>

#include "ksana/base/error/check.hpp"

namespace ksana::app {

EndSignals::EndSignals(Also also) {
    sigemptyset(&set_);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGTERM);
    if (also == Also::kResize) sigaddset(&set_, SIGWINCH);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
    fd_ = ::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK);
    KSANA_CHECK(fd_ >= 0, "no descriptor for signals");
}

EndSignals::~EndSignals() {
    ::close(fd_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int EndSignals::Wait(Duration most, int input) const {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(most);
    const timespec time{.tv_sec = seconds.count(),
                        .tv_nsec = std::chrono::nanoseconds(most - seconds).count()};
    std::array<pollfd, 2> watched = {pollfd{fd_, POLLIN, 0}, pollfd{input, POLLIN, 0}};
    const nfds_t count = input < 0 ? 1 : 2;
    // Another signal may interrupt the wait; that counts as a timeout.
    if (::ppoll(watched.data(), count, &time, nullptr) <= 0) return 0;
    signalfd_siginfo info{};
    if (::read(fd_, &info, sizeof info) == sizeof info) return static_cast<int>(info.ssi_signo);
    return watched[1].revents != 0 ? kInput : 0;
}

bool EndSignals::IsPending() {
    sigset_t pending{};
    sigpending(&pending);
    return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1;
}

}  // namespace ksana::app
