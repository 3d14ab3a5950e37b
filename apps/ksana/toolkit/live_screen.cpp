#include "apps/ksana/toolkit/live_screen.hpp"

#include <algorithm>
#include <optional>

#include <fmt/core.h>
#include <unistd.h>

#include "apps/ksana/toolkit/table.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::app {

LiveScreen::LiveScreen(Output& output) : output_(output) {
    termios settings{};
    if (::tcgetattr(STDIN_FILENO, &settings) == 0) {
        before_ = settings;
        settings.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        settings.c_cc[VMIN] = 0;
        settings.c_cc[VTIME] = 0;
        // Disables Ctrl-Z: a stopped process would leave the terminal in this mode.
        settings.c_cc[VSUSP] = _POSIX_VDISABLE;
        ::tcsetattr(STDIN_FILENO, TCSANOW, &settings);
    }
    output_.out += "\x1b[?1049h\x1b[?25l\x1b[?7l";
}

LiveScreen::~LiveScreen() {
    output_.out += "\x1b[?7h\x1b[?25h\x1b[?1049l";
    output_.Flush();
    if (before_) ::tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
}

// Overwrites the old picture line by line: clearing the screen first would flicker.
bool LiveScreen::Draw(const std::vector<std::string>& lines) {
    output_.out += "\x1b[H";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i > 0) output_.out += "\n";
        // Clears the line before its text: clearing after a line of full width would erase its last
        // character.
        output_.out += "\x1b[K" + lines[i];
    }
    output_.out += "\x1b[J";
    return output_.Flush();
}

char LiveScreen::Key() const {
    char key = 0;
    return before_ && ::read(STDIN_FILENO, &key, 1) == 1 ? key : '\0';
}

int LiveScreen::input() const { return before_ ? STDIN_FILENO : -1; }

namespace {

// The loop of RunLive. Lives on its stack.
class Live {
  public:
    Live(ApiSession& session, const LiveView& view)
        : session_(session), view_(view), screen_(session.output) {}

    int Run() {
        for (;;) {
            if (!Draw()) return kExitFailed;
            const SteadyPoint next = session_.process.clock.SteadyNow() + view_.pause;
            if (const auto end = WaitUntil(next)) return *end;
            const auto asked = view_.ask();
            if (EndSignals::IsPending()) return kExitInterrupted;
            trouble_ = asked ? "" : asked.error().message;
        }
    }

  private:
    bool Draw() {
        const TerminalSize size = session_.process.terminal.Size();
        auto lines = view_.picture(size);
        const auto columns = static_cast<std::size_t>(size.columns);
        if (!trouble_.empty() && !lines.empty()) {
            lines.resize(std::max<std::size_t>(lines.size(), 2));
            lines[1] = session_.style.Paint(Hue::kBad, CutToWidth(Printable(trouble_), columns));
        }
        return screen_.Draw(lines);
    }

    // Waits until `next` and redraws when the window is resized. Returns the exit code if the user
    // or a signal ends the view.
    std::optional<int> WaitUntil(SteadyPoint next) {
        for (;;) {
            const SteadyPoint now = session_.process.clock.SteadyNow();
            if (now >= next) return std::nullopt;
            const auto left = std::chrono::ceil<Duration>(next - now);
            const int came = session_.signals->Wait(left, screen_.input());
            if (came == SIGINT || came == SIGTERM) return kExitInterrupted;
            if (came == SIGWINCH && !Draw()) return kExitFailed;
            if (came != EndSignals::kInput) continue;
            const char key = screen_.Key();
            if (key == '\0') return kExitOk;  // the terminal has closed
            if (key == 'q' || key == 'Q') return kExitOk;
            if (key == ' ') return std::nullopt;  // refresh now
        }
    }

    ApiSession& session_;
    const LiveView& view_;
    std::string trouble_;
    LiveScreen screen_;
};

}  // namespace

std::vector<std::string> WithTable(std::string heading, const Table& table, const Style& style,
                                   TerminalSize size) {
    std::vector<std::string> lines = {std::move(heading), ""};
    const std::string text = table.Text(style, true);
    std::string_view rest = text;
    while (!rest.empty() && lines.size() < static_cast<std::size_t>(size.rows)) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        lines.emplace_back(line);
    }
    return lines;
}

OptionSpec IntervalOption() { return {"interval", '\0', "DURATION", "how often it asks", "2s"}; }

Result<Duration> IntervalOf(const Arguments& arguments) {
    auto pause = ParseDuration(arguments.Get("interval"));
    if (!pause) return std::move(pause).error().WithContext("--interval");
    if (*pause < std::chrono::milliseconds(200) || *pause > std::chrono::hours(1)) {
        return Error(Code::kInvalidArgument, "--interval must be from 200ms to 1h");
    }
    return *pause;
}

Result<void> NeedTerminal(const ApiSession& session, std::string_view instead) {
    const Terminal& terminal = session.process.terminal;
    if (terminal.out && !terminal.dumb) return {};
    return Error(Code::kInvalidArgument,
                 fmt::format("there is no terminal to draw on: say {} for one picture", instead));
}

int RunLive(ApiSession& session, const LiveView& view) { return Live(session, view).Run(); }

}  // namespace ksana::app
