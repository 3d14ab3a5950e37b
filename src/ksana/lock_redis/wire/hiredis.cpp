#include "ksana/lock_redis/wire/hiredis.hpp"

#include "ksana/lock_redis/wire/connection.hpp"

namespace ksana::lock_redis {
namespace {

Result<HiredisFunctions> LoadFunctions() {
    KSANA_TRY(const LazyLibrary library, LazyLibrary::Load(KSANA_HIREDIS_FILE, "libhiredis0.14"));
    HiredisFunctions functions;
#define KSANA_FIND(name) KSANA_TRY_VOID(library.Find(#name, functions.name));
    KSANA_HIREDIS_FUNCTIONS(KSANA_FIND)
#undef KSANA_FIND
    return functions;
}

const Result<HiredisFunctions>& Loaded() {
    static const Result<HiredisFunctions> loaded = LoadFunctions();
    return loaded;
}

}  // namespace

Result<void> LoadHiredis() {
    if (!Loaded()) return Loaded().error();
    return {};
}

const HiredisFunctions& Hiredis() { return Loaded().value(); }

}  // namespace ksana::lock_redis
