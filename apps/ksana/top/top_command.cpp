#include "apps/ksana/commands.hpp"

#include <optional>

#include "apps/ksana/toolkit/live_screen.hpp"
#include "apps/ksana/toolkit/session.hpp"
#include "apps/ksana/top/top_data.hpp"
#include "apps/ksana/top/top_frame.hpp"

namespace ksana::app {
namespace {

Result<TopData> AskAll(const ApiSession& session) {
    const auto rows = static_cast<std::size_t>(session.process.terminal.Size().rows);
    return AskTopData(session.api, session.process.clock, rows);
}

int Once(ApiSession& session, const TopData& data) {
    TerminalSize size = session.process.terminal.Size();
    if (!session.process.terminal.out) size.rows = 40;  // a pipe has no height
    for (const std::string& line : TopFrame(data, nullptr, session.style, size)) {
        session.output.out += line + "\n";
    }
    return kExitOk;
}

Result<int> Top(ApiSession& session) {
    KSANA_TRY(const Duration pause, IntervalOf(session.arguments));
    const bool once = session.arguments.Has("once");
    if (!once) KSANA_TRY_VOID(NeedTerminal(session, "--once"));
    KSANA_TRY(TopData now, AskAll(session));
    if (once) return Once(session, now);
    std::optional<TopData> before;
    return RunLive(session, {.ask = [&]() -> Result<void> {
                                 KSANA_TRY(TopData next, AskAll(session));
                                 before = std::move(now);
                                 now = std::move(next);
                                 return {};
                             },
                             .picture =
                                 [&](TerminalSize size) {
                                     return TopFrame(now, before ? &*before : nullptr,
                                                     session.style, size);
                                 },
                             .pause = pause});
}

}  // namespace

Command TopCommand(const Process& process) {
    return {
        .path = "top",
        .words = "",
        .summary = "Shows a server live: rates, what runs, what comes, what failed",
        .details = "q ends it, a blank asks at once. Rates are those since the picture before.\n",
        .options = {IntervalOption(),
                    {"once", '\0', "", "one picture, then the end: for pipes", ""}},
        .run = MakeApiCommand(process, Top, Signals::kWaitable),
        .asks_server = true};
}

}  // namespace ksana::app
