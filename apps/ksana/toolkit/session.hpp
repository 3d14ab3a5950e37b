#pragma once

#include <functional>

#include "apps/ksana/toolkit/command_line.hpp"
#include "apps/ksana/toolkit/end_signals.hpp"
#include "apps/ksana/toolkit/process.hpp"
#include "apps/ksana/toolkit/style.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/client/api_client.hpp"

namespace ksana::app {

// What a command works with that asks a server.
struct ApiSession {
    const Arguments& arguments;
    const Process& process;
    Output& output;
    client::ApiClient& api;
    Style style;
    const EndSignals* signals = nullptr;  // of commands that take their time, else null

    const std::string& Word(std::size_t n) const { return arguments.words().at(n); }
    // A message for people, on standard error: the output is for whoever reads it.
    void Note(std::string_view line) const;
};

// The exit code, or what went wrong.
using ApiBody = std::function<Result<int>(ApiSession&)>;

enum class Signals { kEndTheProcess, kAreWaitedFor };

// A command of the table around its body: opens the session, and says what went wrong with a word
// about what to do next. The process must outlive it.
std::function<int(const Arguments&, Output&)> OverApi(const Process& process, ApiBody body,
                                                      Signals signals = Signals::kEndTheProcess);

// Asks, and hears a yes. --yes says so beforehand; where there is nobody to ask, the error names
// that flag.
Result<bool> Confirm(ApiSession& session, std::string_view question);

}  // namespace ksana::app
