#include "ksana/broker_rabbitmq/wire/librabbitmq.hpp"

namespace ksana::broker_rabbitmq {
namespace {

Result<LibrabbitmqFunctions> LoadFunctions() {
    KSANA_TRY(const LazyLibrary library, LazyLibrary::Load(KSANA_LIBRABBITMQ_FILE, "librabbitmq4"));
    LibrabbitmqFunctions functions;
#define KSANA_FIND(name) KSANA_TRY_VOID(library.Find(#name, functions.name));
    KSANA_LIBRABBITMQ_FUNCTIONS(KSANA_FIND)
#undef KSANA_FIND
    return functions;
}

const Result<LibrabbitmqFunctions>& Loaded() {
    static const Result<LibrabbitmqFunctions> loaded = LoadFunctions();
    return loaded;
}

}  // namespace

Result<void> LoadLibrabbitmq() {
    if (!Loaded()) return Loaded().error();
    return {};
}

const LibrabbitmqFunctions& Librabbitmq() { return Loaded().value(); }

}  // namespace ksana::broker_rabbitmq
