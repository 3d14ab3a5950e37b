#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ksana/base/text/http_method.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/model/enum_names.hpp"

namespace ksana::model {

// Calls a URL (K-01). URL, header values and body may hold {{placeholders}}.
struct HttpAction {
    HttpMethod method = HttpMethod::kGet;
    std::string url;
    TextMap headers;
    std::string body;
    friend bool operator==(const HttpAction&, const HttpAction&) = default;
};

// Runs a program on a worker that allows it: an argument vector, never a shell line. Not executed
// yet: there is no executor for it.
struct CommandAction {
    std::vector<std::string> argv;
    TextMap environment;
    std::string working_directory;
    friend bool operator==(const CommandAction&, const CommandAction&) = default;
};

// Calls a C++ handler registered under this name in the process itself. Not executed yet: there is
// no executor for it.
struct HandlerAction {
    std::string handler;
    std::string input;  // JSON
    friend bool operator==(const HandlerAction&, const HandlerAction&) = default;
};

// Queues the run for a worker or an agent that serves the type.
struct QueueAction {
    std::string type;
    std::string category;
    std::string payload;  // JSON
    friend bool operator==(const QueueAction&, const QueueAction&) = default;
};

// In the order of ActionKind, so that KindOf can use the index.
using Action = std::variant<HttpAction, CommandAction, HandlerAction, QueueAction>;
enum class ActionKind : std::uint8_t { kHttp, kCommand, kHandler, kQueue };

inline ActionKind KindOf(const Action& action) { return static_cast<ActionKind>(action.index()); }

// The methods that a job may use: all but OPTIONS, which is the last.
template <>
struct EnumNames<HttpMethod> {
    static constexpr auto kNames = std::span(kHttpMethodNames).first<6>();
};
template <>
struct EnumNames<ActionKind> {
    static constexpr std::array<std::string_view, 4> kNames = {"http", "command", "handler",
                                                               "queue"};
};

}  // namespace ksana::model
