#include "ksana/base/process/late_library.hpp"

#include <dlfcn.h>

namespace ksana {

Result<LateLibrary> LateLibrary::Load(const std::string& file, std::string_view package) {
    // Everything is bound now: what is missing is an error here, not the end of the process later.
    void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* const why = ::dlerror();
        return Error(Code::kUnimplemented, "cannot load " + file + ": install " +
                                               std::string(package) + " and start again (" +
                                               (why == nullptr ? "unknown" : why) + ")");
    }
    return LateLibrary(file, handle);
}

Result<void*> LateLibrary::AddressOf(const char* name) const {
    void* const address = ::dlsym(handle_, name);
    if (address == nullptr) {
        return Error(Code::kUnimplemented,
                     file_ + " has no " + name + ": it is older than the one this was built with");
    }
    return address;
}

}  // namespace ksana
