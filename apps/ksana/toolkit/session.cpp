#include "apps/ksana/toolkit/session.hpp"

#include <fmt/core.h>

#include <array>
#include <optional>

#include "apps/ksana/toolkit/api_options.hpp"

namespace ksana::app {
namespace {

// Returns a hint about how to fix the error; "" if there is none.
std::string_view HintOf(Code code) {
    switch (code) {
        case Code::kUnavailable:
            return "Is it running? Start one with: ksana server\n"
                   "Or name another: --server URL, or KSANA_SERVER\n";
        case Code::kUnauthenticated:
            return "Name the file with the token: --token-file FILE, or KSANA_TOKEN_FILE\n";
        case Code::kDeadlineExceeded:
            return "Wait longer with: --timeout 2m\n";
        default:
            return "";
    }
}

int RunBody(const Arguments& arguments, const Process& process, Output& output, const ApiBody& body,
            const EndSignals* signals) {
    auto options = ClientOptionsOf(arguments, process);
    if (!options) return Fail(options.error(), output);
    if (signals != nullptr) options->interrupted = EndSignals::IsPending;
    auto api = client::ApiClient::Make(std::move(*options), {process.clock, process.ids});
    if (!api) return Fail(std::move(api).error().WithContext("--server"), output);
    ApiSession session{arguments, process, output, **api, StyleOf(arguments, process), signals};
    const auto done = body(session);
    if (done) return *done;
    if (signals != nullptr && EndSignals::IsPending()) return kExitInterrupted;
    const Error& error = done.error();
    output.err += fmt::format("{} {}\n{}", session.style.PaintError(Hue::kBad, "ksana:"),
                              error.Describe(), HintOf(error.code));
    return Info(error.code).exit_code;
}

}  // namespace

void ApiSession::Note(std::string_view line) const { output.err += fmt::format("{}\n", line); }

std::function<int(const Arguments&, Output&)> MakeApiCommand(const Process& process, ApiBody body,
                                                             Signals signals) {
    return [&process, body = std::move(body), signals](const Arguments& arguments, Output& output) {
        std::optional<EndSignals> held;
        if (signals == Signals::kWaitable) held.emplace(EndSignals::Also::kResize);
        return RunBody(arguments, process, output, body, held ? &*held : nullptr);
    };
}

Result<bool> Confirm(ApiSession& session, std::string_view question) {
    if (session.arguments.Has("yes")) return true;
    const Terminal& terminal = session.process.terminal;
    if (!terminal.in || !terminal.err) {
        return Error(Code::kInvalidArgument,
                     fmt::format("{} There is no terminal to ask on: say --yes", question));
    }
    session.output.err += fmt::format("{} [y/N] ", question);
    session.output.Flush();
    std::array<char, 16> line{};
    const bool answered =
        std::fgets(line.data(), static_cast<int>(line.size()), session.process.in) != nullptr;
    const std::string_view answer = answered ? line.data() : "";
    if (answer == "y\n" || answer == "yes\n" || answer == "Y\n") return true;
    session.Note("Nothing was changed.");
    return false;
}

}  // namespace ksana::app
