#include "ksana/lock_mariadb/libmariadb.hpp"

namespace ksana::lock_mariadb {
namespace {

Result<LibmariadbFunctions> LoadFunctions() {
    KSANA_TRY(const LazyLibrary library, LazyLibrary::Load(KSANA_LIBMARIADB_FILE, "libmariadb3"));
    LibmariadbFunctions functions;
#define KSANA_FIND(name) KSANA_TRY_VOID(library.Find(#name, functions.name));
    KSANA_LIBMARIADB_FUNCTIONS(KSANA_FIND)
#undef KSANA_FIND
    if (functions.mysql_server_init(0, nullptr, nullptr) != 0) {
        return Error(Code::kUnimplemented, "libmariadb could not be initialized");
    }
    return functions;
}

const Result<LibmariadbFunctions>& Loaded() {
    static const Result<LibmariadbFunctions> loaded = LoadFunctions();
    return loaded;
}

}  // namespace

Result<void> LoadLibmariadb() {
    if (!Loaded()) return Loaded().error();
    return {};
}

const LibmariadbFunctions& Libmariadb() { return Loaded().value(); }

}  // namespace ksana::lock_mariadb
