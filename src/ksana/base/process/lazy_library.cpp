#include "ksana/base/process/lazy_library.hpp"

#include <dlfcn.h>

namespace ksana {

Result<LazyLibrary> LazyLibrary::Load(const std::string& file, std::string_view package) {
    // RTLD_NOW binds all symbols: a missing one is an error here, not a crash later.
    void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* const why = ::dlerror();
        return Error(Code::kUnimplemented, "cannot load " + file + ": install " +
                                               std::string(package) + " and start again (" +
                                               (why == nullptr ? "unknown" : why) + ")");
    }
    return LazyLibrary(file, handle);
}

Result<void*> LazyLibrary::AddressOf(const char* name) const {
    void* const address = ::dlsym(handle_, name);
    if (address == nullptr) {
        return Error(Code::kUnimplemented,
                     file_ + " has no " + name + ": it is older than the one this was built with");
    }
    return address;
}

}  // namespace ksana
