#include "ksana/top_command.hpp"

#include <fmt/core.h>

#include <optional>

#include "ksana/base/duration_text.hpp"
#include "ksana/base/utf8.hpp"
#include "ksana/live_screen.hpp"
#include "ksana/session.hpp"
#include "ksana/text_width.hpp"
#include "ksana/top_data.hpp"
#include "ksana/top_frame.hpp"

namespace ksana::app {
namespace {

Result<TopData> Ask(const Session& session) {
    const auto rows = static_cast<std::size_t>(session.process.terminal.Size().rows);
    return AskTopData(session.api, session.process.clock, rows);
}

int Once(Session& session, const TopData& data) {
    TerminalSize size = session.process.terminal.Size();
    if (!session.process.terminal.out) size.rows = 40;  // a pipe has no end
    for (const std::string& line : TopFrame(data, nullptr, session.style, size)) {
        session.output.out += line + "\n";
    }
    return kExitOk;
}

// Keeps the picture of the last answer while the server does not answer, and says so.
class Live {
  public:
    Live(Session& session, TopData first, Duration pause)
        : session_(session), now_(std::move(first)), pause_(pause), screen_(session.output) {}

    int Run() {
        for (;;) {
            if (!Draw()) return kExitFailed;
            const SteadyPoint next = session_.process.clock.SteadyNow() + pause_;
            if (const auto end = WaitUntil(next)) return *end;
            auto asked = Ask(session_);
            if (EndSignals::IsPending()) return kExitInterrupted;
            trouble_ = asked ? "" : asked.error().message;
            if (!asked) continue;
            before_ = std::move(now_);
            now_ = std::move(*asked);
        }
    }

  private:
    bool Draw() {
        const TerminalSize size = session_.process.terminal.Size();
        auto lines = TopFrame(now_, before_ ? &*before_ : nullptr, session_.style, size);
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
    std::optional<TopData> before_;
    TopData now_;
    const Duration pause_;
    std::string trouble_;
    LiveScreen screen_;
};

Result<int> Top(Session& session) {
    auto pause = ParseDuration(session.arguments.Get("interval"));
    if (!pause) return std::move(pause).error().WithContext("--interval");
    if (*pause < std::chrono::milliseconds(200) || *pause > std::chrono::hours(1)) {
        return Error(Code::kInvalidArgument, "--interval must be from 200ms to 1h");
    }
    const bool once = session.arguments.Has("once");
    const Terminal& terminal = session.process.terminal;
    if (!once && (!terminal.out || terminal.dumb)) {
        return Error(Code::kInvalidArgument,
                     "there is no terminal to draw on: say --once for one picture");
    }
    KSANA_TRY(TopData data, Ask(session));
    if (once) return Once(session, data);
    return Live(session, std::move(data), *pause).Run();
}

}  // namespace

Command TopCommand(const Process& process) {
    return {
        .path = "top",
        .words = "",
        .summary = "Shows a server live: rates, what runs, what comes, what failed",
        .details = "q ends it, a blank asks at once. Rates are those since the picture before.\n",
        .options = {{"interval", '\0', "DURATION", "how often it asks", "2s"},
                    {"once", '\0', "", "one picture, then the end: for pipes", ""}},
        .run = OverApi(process, Top, Signals::kAreWaitedFor),
        .asks_server = true};
}

}  // namespace ksana::app
