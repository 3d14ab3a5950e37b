#pragma once

#include <functional>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/end_signals.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "apps/ksana/toolkit/style.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/client/api_client.hpp"

namespace ksana::app {

// The context of a command that asks a server: its arguments, its output and a client.
// Lives for one invocation, on the stack of MakeApiCommand's wrapper; owns none of what it refers
// to. One thread.
struct ApiSession {
    const Arguments& arguments;
    const Process& process;
    Output& output;
    client::ApiClient& api;
    Style style;
    const EndSignals* signals = nullptr;  // set for commands that wait for signals, else null

    const std::string& Word(std::size_t n) const { return arguments.words().at(n); }
    // Writes a message for people to standard error; standard output holds results only.
    void Note(std::string_view line) const;
};

// The body of a command. Returns the exit code, or the error.
using ApiBody = std::function<Result<int>(ApiSession&)>;

enum class Signals { kDefaultAction, kWaitable };

// Wraps `body` as a command of the table. The wrapper opens the session and prints an error
// together with a hint about what to do next. `process` must outlive the wrapper.
std::function<int(const Arguments&, Output&)> MakeApiCommand(
    const Process& process, ApiBody body, Signals signals = Signals::kDefaultAction);

// Asks the user and returns whether the answer was yes. --yes answers in advance. kInvalidArgument
// if there is no terminal to ask on; the message names --yes.
Result<bool> Confirm(ApiSession& session, std::string_view question);

}  // namespace ksana::app
