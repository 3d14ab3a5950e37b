#include "ksana/libpq/libpq.hpp"

namespace ksana::libpq {
namespace {

Result<LibpqFunctions> LoadFunctions() {
    KSANA_TRY(const LazyLibrary library, LazyLibrary::Load(KSANA_LIBPQ_FILE, "libpq5"));
    LibpqFunctions functions;
#define KSANA_FIND(name) KSANA_TRY_VOID(library.Find(#name, functions.name));
    KSANA_LIBPQ_FUNCTIONS(KSANA_FIND)
#undef KSANA_FIND
    return functions;
}

const Result<LibpqFunctions>& Loaded() {
    static const Result<LibpqFunctions> loaded = LoadFunctions();
    return loaded;
}

}  // namespace

Result<void> LoadLibpq() {
    if (!Loaded()) return Loaded().error();
    return {};
}

const LibpqFunctions& Libpq() { return Loaded().value(); }

}  // namespace ksana::libpq
