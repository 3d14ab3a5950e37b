#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ksana {

// What went wrong, coarsely: enough to choose an HTTP status, an exit code and whether to try
// again. The text says the rest.
enum class Code : std::uint8_t {
    kInvalidArgument,
    kNotFound,
    kAlreadyExists,
    kConflict,
    kLeaseLost,
    kUnavailable,
    kDeadlineExceeded,
    kUnauthenticated,
    kPermissionDenied,
    kExhausted,
    kDataLoss,
    kUnimplemented,
    kInternal,
};

inline constexpr std::size_t kCodeCount = 13;

// The one place where a code gets its outside meanings.
struct CodeInfo {
    Code code;
    std::string_view name;  // stable, snake_case: goes out in problem+json and logs
    int http_status;
    int exit_code;  // of the command line
    bool retryable;
};

const CodeInfo& Info(Code code);

// One fault of an input: where (a JSON Pointer, RFC 6901; "" is the whole document) and why. What
// the message says to people, `code` and `allowed` say to programs; so they do not make two faults
// different.
struct Problem {
    std::string path;
    std::string message;
    std::string_view code = "invalid";  // a literal, snake_case, stable
    std::vector<std::string> allowed;   // what could have stood there, where that is a short list

    friend bool operator==(const Problem& a, const Problem& b) {
        return a.path == b.path && a.message == b.message;
    }
};

// A failure as a value. `problems` is filled for invalid input only and then names every fault.
struct [[nodiscard]] Error {
    Code code = Code::kInternal;
    std::string message;
    std::vector<Problem> problems;

    Error();
    Error(Code error_code, std::string text);
    Error(Code error_code, const char* text);
    explicit Error(std::vector<Problem> faults);
    // Not inline: there is one in nearly every function, and hardly ever is it needed.
    Error(const Error&);
    Error(Error&&) noexcept;
    Error& operator=(const Error&);
    Error& operator=(Error&&) noexcept;
    ~Error();

    // The same error with "context: " in front of its text, for the way up.
    Error WithContext(std::string_view context) &&;

    // The message and every problem, one a line; for logs and terminals.
    std::string Describe() const;
};

}  // namespace ksana
