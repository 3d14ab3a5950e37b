#pragma once

#include <bit>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana {

// A shared library that is loaded on first use, so that a process that does not need it saves its
// memory and that of its dependencies. It is never unloaded: function pointers stay valid until the
// process ends. Find is thread-safe.
//
// A wrapper lists the functions it uses once, in a macro, and derives the members of a struct and
// their lookup from that list:
//
//   #define KSANA_LIBFOO_FUNCTIONS(EACH) EACH(foo_open) EACH(foo_close)
//   struct Functions { KSANA_LIBFOO_FUNCTIONS(KSANA_LATE_FUNCTION) };
class LazyLibrary {
  public:
    // Loads `file`, a name for the system's loader ("libfoo.so.1"). `package` is the name that the
    // error message asks the user to install. Returns kUnimplemented if the library cannot be
    // loaded.
    static Result<LazyLibrary> Load(const std::string& file, std::string_view package);

    // Looks up a function. Returns kUnimplemented if the library does not have it.
    template <class Function>
    Result<void> Find(const char* name, Function*& function) const {
        KSANA_TRY(void* const address, AddressOf(name));
        function = std::bit_cast<Function*>(address);
        return {};
    }

  private:
    LazyLibrary(std::string file, void* handle) : file_(std::move(file)), handle_(handle) {}

    Result<void*> AddressOf(const char* name) const;

    std::string file_;
    void* handle_;  // never closed
};

// Declares a member with the name and the type of a C function.
#define KSANA_LATE_FUNCTION(name) decltype(&::name) name = nullptr;

}  // namespace ksana
