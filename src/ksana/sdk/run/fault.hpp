#pragma once

#include <string>

namespace ksana::sdk {

// What is known about an exception that left a user's function (G-05).
struct Fault {
    std::string type;     // "std::out_of_range"; empty: unknown
    std::string message;  // what()
    std::string stack;    // where it was thrown, a frame on each line; empty: unknown

    // {"error":{"type","message","stack"}}, as it is kept with an attempt.
    std::string ToDetail() const;
};

// Returns the fault of the exception that is being handled. Call it inside a catch.
Fault CurrentFault();

// While it lives, the stack of each throw on this thread is noted, so that CurrentFault can tell
// it: when the exception is caught, the stack is gone. Noting costs some microseconds for each
// throw. Scopes may nest.
class ThrowStackScope {
  public:
    ThrowStackScope();
    ~ThrowStackScope();
    ThrowStackScope(const ThrowStackScope&) = delete;
    ThrowStackScope& operator=(const ThrowStackScope&) = delete;

  private:
    const bool before_;
};

}  // namespace ksana::sdk
