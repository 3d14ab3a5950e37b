#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "apps/ksana/commands.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/fake_clock.hpp"

namespace ksana::test {

// A process for running commands in tests: no environment, temporary files as its streams, and a
// fake clock. Owned by the test; one thread.
class AppProcess {
  public:
    AppProcess() : process_{clock_, random_, ids_, {}, std::tmpfile(), std::tmpfile(), {}} {}
    AppProcess(const AppProcess&) = delete;
    AppProcess& operator=(const AppProcess&) = delete;
    ~AppProcess() {
        (void)std::fclose(process_.in);
        (void)std::fclose(process_.out);
    }

    app::Process& process() { return process_; }
    app::Output& output() { return output_; }

    int Run(const std::vector<std::string>& tokens) {
        output_ = {};
        return app::RunCommandLine(app::AllCommands(process_), tokens, output_);
    }
    void Type(std::string_view text) {
        (void)std::fwrite(text.data(), 1, text.size(), process_.in);
        std::rewind(process_.in);
    }

  private:
    FakeClock clock_;
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
    app::Process process_;
    app::Output output_;
};

// Splits a line into words as a shell does, with single quotes only.
inline std::vector<std::string> ShellWords(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    bool quoted = false;
    bool open = false;
    for (const char c : line) {
        if (c == '\'') {
            quoted = !quoted;
            open = true;
        } else if (c == ' ' && !quoted) {
            if (open) words.push_back(word);
            word.clear();
            open = false;
        } else {
            word += c;
            open = true;
        }
    }
    if (open) words.push_back(word);
    return words;
}

}  // namespace ksana::test
