#include <cstdint>
#include <string_view>

#include "fuzz/fuzz_text.hpp"
#include "ksana/base/error/check.hpp"
#include "ksana/codec/v1/definitions.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace ksana;
    const std::string_view text = ksana::fuzz::AsText(data, size);
    if (const auto parsed = codec::DefinitionsFromToml(text)) {
        const auto back = codec::DefinitionsFromJson(codec::DefinitionsToJson(*parsed));
        KSANA_CHECK(back && *back == *parsed, "definitions do not read back the same");
    }
    return 0;
}
