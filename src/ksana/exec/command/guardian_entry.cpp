#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

#include "ksana/exec/command/guardian_link.hpp"
#include "ksana/exec/command/guardian_process.hpp"

namespace ksana::exec {

const char* GuardianName() { return kGuardianName; }

namespace {

// Runs before main and before the objects of the program are made. glibc gives such functions the
// arguments of main. In the copy of the program that is a guardian, it never returns.
[[gnu::constructor(101)]] void BecomeGuardian(int count, char** words, char** /*environment*/) {
    constexpr int kWords = 3;
    if (count != kWords || std::string_view(words[0]) != kGuardianName) return;
    syscall(SYS_close_range, kGuardianSocket + 1, ~0U, 0);
    const std::string_view silence = words[2];
    int silence_ms = 0;
    std::from_chars(silence.data(), silence.data() + silence.size(), silence_ms);
    {
        GuardianProcess guardian(kGuardianSocket, words[1], silence_ms);
        guardian.Run();
    }
    _exit(0);
}

}  // namespace
}  // namespace ksana::exec
