#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/clock.hpp"
#include "ksana/command_line.hpp"
#include "ksana/commands.hpp"

namespace {

// False when the text did not reach where it was going (a full disk, a closed pipe).
bool Print(std::FILE* file, std::string_view text) {
    return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

}  // namespace

int main(int argc, char** argv) {
    const ksana::SystemClock clock;
    const std::vector<std::string> tokens(argv + 1, argv + argc);
    ksana::app::Output output;
    const int code = ksana::app::RunCommandLine(ksana::app::AllCommands(clock), tokens, output);
    const bool printed = Print(stdout, output.out);
    Print(stderr, output.err);
    if (!printed) {
        Print(stderr, "ksana: cannot write the output\n");
        return 1;
    }
    return code;
}
