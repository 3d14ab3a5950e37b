#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ksana/base/text/http_method.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/enum_names.hpp"

namespace ksana::model {

// Calls a URL (K-01). URL, header values and body may hold {{placeholders}}.
struct HttpAction {
    HttpMethod method = HttpMethod::kGet;
    std::string url;
    TextMap headers;
    std::string body;
    std::string sign_as;  // a type, by whose keys the call is signed; empty: it is not signed
    friend bool operator==(const HttpAction&, const HttpAction&) = default;
};

// Resource limits of a command's processes (setrlimit). None: that of the server or worker.
struct CommandLimits {
    std::optional<Duration> cpu;  // whole seconds; a part counts as one
    std::optional<std::int64_t> memory;
    std::optional<std::int64_t> files;
    std::optional<std::int64_t> processes;  // of the user, all of them
    std::optional<std::int64_t> file_size;
    std::optional<std::int64_t> core;
    friend bool operator==(const CommandLimits&, const CommandLimits&) = default;
};

// The bounds of CommandAction::output_limit. JSON may write a byte as six, and the whole must fit
// into the detail of an attempt.
inline constexpr std::int64_t kMinOutputLimit = 1 << 10;
inline constexpr std::int64_t kMaxOutputLimit = 128 << 10;
inline constexpr std::int64_t kDefaultOutputLimit = 64 << 10;

// Runs a program on a server or worker that allows it: an argument vector, unless `shell`: then
// argv[0] is a line for /bin/sh -c, and the rest are its $1, $2… Arguments, values of variables and
// the working directory may hold {{placeholders}}, a shell line may not.
struct CommandAction {
    std::vector<std::string> argv;
    bool shell = false;
    TextMap environment;
    std::vector<std::string> inherit;  // variables taken from the server or worker, beside PATH, …
    std::string working_directory;     // empty: that of the server or worker
    std::string user;                  // name or number; empty: that of the server or worker
    std::string group;                 // name or number; empty: that of the user
    CommandLimits limits;
    std::vector<std::int32_t> permanent_exit_codes;  // with these it is not tried again
    std::int64_t output_limit = kDefaultOutputLimit;
    friend bool operator==(const CommandAction&, const CommandAction&) = default;
};

// Calls a C++ handler registered under this name, in the process itself or in a worker.
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
