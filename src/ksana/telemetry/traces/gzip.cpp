#include "ksana/telemetry/traces/gzip.hpp"

#include <zlib.h>

#include <bit>

#include "ksana/base/process/lazy_library.hpp"

namespace ksana::telemetry {
namespace {

// The only list of zlib's functions.
#define KSANA_ZLIB_FUNCTIONS(EACH) \
    EACH(deflate) EACH(deflateBound) EACH(deflateEnd) EACH(deflateInit2_)

struct Functions {
    KSANA_ZLIB_FUNCTIONS(KSANA_LATE_FUNCTION)
};

Result<Functions> LoadFunctions() {
    KSANA_TRY(const LazyLibrary library, LazyLibrary::Load(KSANA_ZLIB_FILE, "zlib1g"));
    Functions functions;
#define KSANA_FIND(name) KSANA_TRY_VOID(library.Find(#name, functions.name));
    KSANA_ZLIB_FUNCTIONS(KSANA_FIND)
#undef KSANA_FIND
    return functions;
}

const Result<Functions>& Loaded() {
    static const Result<Functions> loaded = LoadFunctions();
    return loaded;
}

Error CannotCompress() { return {Code::kInternal, "zlib cannot compress"}; }

}  // namespace

Result<std::string> Gzip(std::string_view text) {
    if (!Loaded()) return Loaded().error();
    const Functions& api = Loaded().value();
    constexpr int kWindowBits = 15 + 16;  // 16: with the header of a gzip file
    constexpr int kMemoryLevel = 8;
    z_stream stream{};
    if (api.deflateInit2_(&stream, Z_BEST_SPEED, Z_DEFLATED, kWindowBits, kMemoryLevel,
                          Z_DEFAULT_STRATEGY, ZLIB_VERSION, int{sizeof stream}) != Z_OK) {
        return CannotCompress();
    }
    std::string packed(api.deflateBound(&stream, text.size()), '\0');
    std::string input(text);  // zlib's input is not const
    stream.next_in = std::bit_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    stream.next_out = std::bit_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    const int result = api.deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    api.deflateEnd(&stream);
    if (result != Z_STREAM_END) return CannotCompress();
    return packed;
}

}  // namespace ksana::telemetry
