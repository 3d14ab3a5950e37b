#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ksana {

// The category of an error. It determines the HTTP status, the exit code and whether a retry makes
// sense; the message has the details.
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
    kStorageFull,
    kDataLoss,
    kUnimplemented,
    kInternal,
};

inline constexpr std::size_t kCodeCount = 14;

// The external representations of a code, defined once for the whole program.
struct CodeInfo {
    Code code;
    std::string_view name;  // stable snake_case name for problem+json and logs
    int http_status;
    int exit_code;  // of the command-line program
    bool retryable;
};

// Aborts if `code` is not one of the enumerators.
const CodeInfo& Info(Code code);

// One fault of an input: its place (a JSON Pointer, RFC 6901; "" is the whole document) and its
// cause. `code` and `allowed` repeat the message in a form for programs and are ignored by ==.
struct Problem {
    std::string path;
    std::string message;
    std::string_view code = "invalid";  // a literal, snake_case, stable
    std::vector<std::string> allowed;   // the valid values, if they are a short list

    friend bool operator==(const Problem& a, const Problem& b) {
        return a.path == b.path && a.message == b.message;
    }
};

// The most problems that an error lists.
inline constexpr std::size_t kMostProblems = 100;

// A failure as a value. For invalid input `problems` lists the faults; otherwise it is empty.
struct [[nodiscard]] Error {
    Code code = Code::kInternal;
    std::string message;
    std::vector<Problem> problems;

    Error();
    Error(Code error_code, std::string text);
    Error(Code error_code, const char* text);
    // An error with code kInvalidArgument. `faults` must not be empty. Keeps the first
    // kMostProblems; then a last one, with code "more", says how many others there are, with
    // `untold` that are not in `faults`.
    explicit Error(std::vector<Problem> faults, std::size_t untold = 0);
    // Not inline: nearly every function would contain them, and they are rarely executed.
    Error(const Error&);
    Error(Error&&) noexcept;
    Error& operator=(const Error&);
    Error& operator=(Error&&) noexcept;
    ~Error();

    // Returns the error with "context: " in front of its message, for callers that pass it on.
    Error WithContext(std::string_view context) &&;

    // Returns the message and every problem, each on its own line; for logs and terminals.
    std::string Describe() const;
};

}  // namespace ksana
