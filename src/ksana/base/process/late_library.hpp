#pragma once

#include <bit>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana {

// A shared library that is loaded when it is first needed, so that a process that never needs it
// has neither its pages nor those of the libraries that come with it. It stays until the process
// ends: what was found in it may be called for ever.
//
// Whoever wraps one lists the functions it uses once, and makes of that list the members of a
// struct and the finding of them:
//
//   #define KSANA_LIBFOO_FUNCTIONS(EACH) EACH(foo_open) EACH(foo_close)
//   struct Functions { KSANA_LIBFOO_FUNCTIONS(KSANA_LATE_FUNCTION) };
class LateLibrary {
  public:
    // `file` as the system's loader knows it ("libfoo.so.1"). `package` is what the error tells
    // people to install.
    static Result<LateLibrary> Load(const std::string& file, std::string_view package);

    template <class Function>
    Result<void> Find(const char* name, Function*& function) const {
        KSANA_TRY(void* const address, AddressOf(name));
        function = std::bit_cast<Function*>(address);
        return {};
    }

  private:
    LateLibrary(std::string file, void* handle) : file_(std::move(file)), handle_(handle) {}

    Result<void*> AddressOf(const char* name) const;

    std::string file_;
    void* handle_;  // never given back
};

// A member that has the name and the type of a C function.
#define KSANA_LATE_FUNCTION(name) decltype(&::name) name = nullptr;

}  // namespace ksana
