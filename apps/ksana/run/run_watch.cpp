#include "apps/ksana/run/run_watch.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "apps/ksana/toolkit/item_view.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::app {
namespace {

using client::ApiPath;
using codec::Json;

constexpr Duration kFirstPause = std::chrono::milliseconds(100);
constexpr Duration kLongestPause = std::chrono::seconds(1);
// How long a server that answered before may be unreachable, for example while it restarts.
constexpr Duration kPatience = std::chrono::seconds(30);

// Formats "running, attempt 2, 40%".
std::string ProgressText(const Json& run, const Style& style) {
    std::string text = run.TextAt("/state");
    if (run.At("/attempt").Int().value_or(0) > 0) text += ", attempt " + run.TextAt("/attempt");
    if (run.At("/progress").Int().value_or(0) > 0) text += ", " + run.TextAt("/progress") + "%";
    if (run.Has("/progress_note")) text += ", " + run.TextAt("/progress_note");
    const bool waits = run.TextAt("/state") == "queued" || run.TextAt("/state") == "scheduled";
    if (waits && run.At("/failures").Int().value_or(0) > 0) {
        text += ", tried again " + style.Time(run.TextAt("/ready_at"));
    }
    return Printable(text);
}

// The polling loop of WatchRun. Lives on its stack; the destructor clears the progress line. One
// thread.
class Watch {
  public:
    Watch(ApiSession& session, std::string id) : session_(session), id_(std::move(id)) {}
    ~Watch() { Clear(); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    Result<int> Run(Duration most) {
        const SteadyPoint start = Now();
        SteadyPoint reached = start;
        Duration pause = kFirstPause;
        for (;;) {
            auto answer = session_.api.Get(ApiPath({"runs", id_}));
            if (answer) {
                reached = Now();
                const std::string state = answer->json.TextAt("/state");
                if (IsFinal(state) || state == "held") return Verdict(answer->json, state);
                Show(answer->json);
            } else if (answer.error().code != Code::kUnavailable || reached == start ||
                       Now() - reached > kPatience) {
                return std::move(answer).error();
            }
            if (Now() - start > most) return TimedOut(most);
            if (!session_.output.Flush()) return kExitFailed;
            const int signal = session_.signals->Wait(pause);
            if (signal == SIGINT || signal == SIGTERM) return Interrupted();
            pause = std::min(pause * 3 / 2, kLongestPause);
        }
    }

  private:
    SteadyPoint Now() const { return session_.process.clock.SteadyNow(); }

    void Clear() {
        if (drawn_) session_.process.redraw("");
        drawn_ = false;
    }

    void Show(const Json& run) {
        session_.style.now = session_.process.clock.Now();
        const std::string text = ProgressText(run, session_.style);
        if (session_.process.redraw) {
            const std::string took = TookText(run, session_.style);
            session_.process.redraw(
                fmt::format("run {}: {}{}{}", id_, text, took.empty() ? "" : ", ", took));
            drawn_ = true;
        } else if (text != last_) {
            session_.Note(text);
        }
        last_ = text;
    }

    int Verdict(const Json& run, const std::string& state) {
        Clear();
        const bool succeeded = state == "succeeded" || state == "resolved";
        if (!session_.style.IsTable() || !session_.style.fields.empty()) {
            ShowOne(session_, run);
        } else {
            const Style& style = session_.style;
            std::string line = fmt::format("run {}: {}", id_, style.Paint(HueOf(state), state));
            if (const std::string took = TookText(run, style); !took.empty()) line += " in " + took;
            if (!succeeded && run.Has("/last_error")) {
                line += ": " + Printable(run.TextAt("/last_error"));
            }
            if (state == "skipped") line += ": " + Printable(run.TextAt("/skip_reason"));
            session_.output.out += line + "\n";
            if (state == "held") session_.Note("It waits for a person: ksana run retry " + id_);
        }
        return succeeded ? kExitOk : kExitNotSucceeded;
    }

    int TimedOut(Duration most) {
        Clear();
        session_.Note(fmt::format("ksana: run {} is not over after {} ({}); it goes on", id_,
                                  FormatDuration(most), last_));
        return kExitTimedOut;
    }

    int Interrupted() {
        Clear();
        session_.Note(
            fmt::format("Not watched any more; the run goes on. "
                        "Stop it with: ksana run cancel {}",
                        id_));
        return kExitInterrupted;
    }

    ApiSession& session_;
    const std::string id_;
    std::string last_;
    bool drawn_ = false;
};

}  // namespace

std::vector<OptionSpec> WatchOptions() {
    return {{"max-wait", '\0', "DURATION", "watches it no longer than this", "1h"}};
}

Result<int> WatchRun(ApiSession& session, const std::string& id) {
    auto most = ParseDuration(session.arguments.Get("max-wait"));
    if (!most) return std::move(most).error().WithContext("--max-wait");
    if (*most < Duration::zero()) {
        return Error(Code::kInvalidArgument, "--max-wait must not be negative");
    }
    return Watch(session, id).Run(*most);
}

bool IsFinal(std::string_view state) {
    constexpr std::array<std::string_view, 7> kFinal = {
        "succeeded", "failed", "timed_out", "cancelled", "resolved", "skipped", "missed"};
    return std::find(kFinal.begin(), kFinal.end(), state) != kFinal.end();
}

std::string TookText(const Json& run, const Style& style) {
    const auto start = ParseTime(run.TextAt("/started_at"));
    if (!start) return "";
    const auto end = ParseTime(run.TextAt("/finished_at"));
    if (!end && IsFinal(run.TextAt("/state"))) return "";
    const Duration took = std::max(Duration::zero(), (end ? *end : style.now) - *start);
    // Milliseconds are noise in a long duration.
    if (took >= std::chrono::seconds(10)) {
        return FormatDuration(std::chrono::floor<std::chrono::seconds>(took));
    }
    return FormatDuration(std::chrono::floor<std::chrono::milliseconds>(took));
}

}  // namespace ksana::app
