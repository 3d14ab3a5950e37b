#include "support/lock_holder.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace ksana::testing {
namespace {

[[noreturn]] void Hold(const std::function<std::unique_ptr<lock::LockDriver>()>& open,
                       const lock::LockRequest& request, int out) {
    const auto driver = open();
    std::int64_t fence = 0;
    if (driver) {
        const auto answer = driver->Try(request);
        if (answer && answer->grant) fence = answer->grant->fence;
    }
    if (::write(out, &fence, sizeof(fence)) != sizeof(fence)) ::_exit(1);
    while (true) ::pause();
}

}  // namespace

LockHolder::LockHolder(const std::function<std::unique_ptr<lock::LockDriver>()>& open,
                       const lock::LockRequest& request) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) Hold(open, request, ends[1]);
    ::close(ends[1]);
    if (::read(ends[0], &fence_, sizeof(fence_)) != sizeof(fence_)) fence_ = 0;
    ::close(ends[0]);
}

LockHolder::~LockHolder() { Kill(); }

void LockHolder::Kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

void LockHolder::Stop() { ::kill(pid_, SIGSTOP); }

}  // namespace ksana::testing
