#include "ksana/libcurl/libcurl.hpp"

namespace ksana::libcurl {
namespace {

Result<void> SetUp(const Functions& functions) {
    const CURLcode code = functions.curl_global_init(CURL_GLOBAL_DEFAULT);
    if (code == CURLE_OK) return {};
    return Error(Code::kInternal,
                 std::string("libcurl cannot be set up: ") + functions.curl_easy_strerror(code));
}

Result<Functions> LoadFunctions() {
    KSANA_TRY(const LazyLibrary library, LazyLibrary::Load(KSANA_LIBCURL_FILE, "libcurl4"));
    Functions functions;
#define KSANA_FIND(name) KSANA_TRY_VOID(library.Find(#name, functions.name));
    KSANA_LIBCURL_FUNCTIONS(KSANA_FIND)
#undef KSANA_FIND
    KSANA_TRY_VOID(SetUp(functions));
    return functions;
}

const Result<Functions>& Loaded() {
    static const Result<Functions> loaded = LoadFunctions();
    return loaded;
}

}  // namespace

Result<void> Load() {
    if (!Loaded()) return Loaded().error();
    return {};
}

const Functions& Api() { return Loaded().value(); }

}  // namespace ksana::libcurl
