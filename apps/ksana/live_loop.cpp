#include "ksana/live_loop.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "ksana/base/duration_text.hpp"
#include "ksana/base/utf8.hpp"
#include "ksana/live_screen.hpp"
#include "ksana/text_width.hpp"

namespace ksana::app {
namespace {

class Live {
  public:
    Live(Session& session, const LiveView& view)
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

    // Draws again when the window changes; the exit code when it is time to go.
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
            if (key == ' ') return std::nullopt;  // now
        }
    }

    Session& session_;
    const LiveView& view_;
    std::string trouble_;
    LiveScreen screen_;
};

}  // namespace

OptionSpec IntervalOption() { return {"interval", '\0', "DURATION", "how often it asks", "2s"}; }

Result<Duration> IntervalOf(const Arguments& arguments) {
    auto pause = ParseDuration(arguments.Get("interval"));
    if (!pause) return std::move(pause).error().WithContext("--interval");
    if (*pause < std::chrono::milliseconds(200) || *pause > std::chrono::hours(1)) {
        return Error(Code::kInvalidArgument, "--interval must be from 200ms to 1h");
    }
    return *pause;
}

Result<void> NeedTerminal(const Session& session, std::string_view instead) {
    const Terminal& terminal = session.process.terminal;
    if (terminal.out && !terminal.dumb) return {};
    return Error(Code::kInvalidArgument,
                 fmt::format("there is no terminal to draw on: say {} for one picture", instead));
}

int RunLive(Session& session, const LiveView& view) { return Live(session, view).Run(); }

}  // namespace ksana::app
